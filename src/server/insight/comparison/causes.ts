import { pluralize } from '../../../base/plural.js';
import { wholeMilliseconds } from '../../../base/rounding.js';
import type { ComparedFile, DifferenceCause } from '../../../protocol/answers/comparison.js';
import { PART_TITLES } from '../../../protocol/answers/minutes.js';
import { pieceOf } from '../../../protocol/piece-path.js';
import { decidingExecution, overrunFile } from '../minutes/last-node.js';
import { LOSSES, type Loss } from '../minutes/minutes.js';
import { hasRestarted } from '../timeline/timeline.js';
import { differenceOf } from './compared-files.js';
import type { Measured, MeasuredBuild } from './measured.js';

/** A file or a node is named when it makes at least this part of a difference. */
const MAIN_PART = 0.5;

/**
 * Why a build took longer or shorter, in seconds of its wall time, the largest cause first. The causes add up to the difference of the wall
 * times, in whole milliseconds.
 *
 * @param files see comparedFiles
 */
export function causesOf(now: MeasuredBuild, before: Measured, files: readonly ComparedFile[]): DifferenceCause[] {
  const causes: DifferenceCause[] = [];
  for (const each of [...floorCauses(now, before, files), ...LOSSES.map(name => lossCause(name, now, before))]) {
    // A file may have made the floor longer and been planned too late.
    const same = causes.find(({ text }) => text === each.text);
    if (same) same.seconds = wholeMilliseconds(same.seconds + each.seconds);
    else causes.push(each);
  }
  return causes.filter(({ seconds }) => seconds !== 0).sort((a, b) => Math.abs(b.seconds) - Math.abs(a.seconds));
}

function cause(text: string, seconds: number, about: Partial<DifferenceCause> = {}): DifferenceCause {
  return { text, seconds: wholeMilliseconds(seconds), file_seconds: null, path: null, node_index: null, ...about };
}

/** Explains changes of the least possible time: by the number of nodes, and by the files. */
function floorCauses(now: MeasuredBuild, before: Measured, files: readonly ComparedFile[]): DifferenceCause[] {
  const usualWork = before.parts.even_share * before.nodes;
  const ofNodes = now.nodes === before.nodes ? 0 : usualWork / now.nodes - usualWork / before.nodes;
  const nodes = cause(`${pluralize(now.nodes, 'node')} instead of ${before.nodes}`, ofNodes);
  return [nodes, filesCause(now, before, files, now.floor - before.floor - nodes.seconds)];
}

/** The file that decides the build, if its own difference made that of the floor; else the files together. */
function filesCause(now: MeasuredBuild, before: Measured, files: readonly ComparedFile[], seconds: number): DifferenceCause {
  const longest = decidingExecution(now.timeline, now.minutes);
  const deciding = [
    ...(longest ? [now.timeline.paths[longest.file]!] : []),
    ...(before.parts.longest_file > 0 ? [longestOf(before.files)] : []),
  ];
  const decided = files.find(file => deciding.includes(file.path) && isMain(differenceOf(file), seconds));
  if (decided) return ofFile(decided.path, seconds, now, before);
  const whole = longestOf(before.files);
  const isInPieces = before.parts.longest_file > 0 && now.timeline.paths.some(path => pieceOf(path)?.file === whole);
  if (isInPieces && isMain(now.parts.longest_file - before.parts.longest_file, seconds))
    return cause(`${whole} ran in pieces`, seconds, { path: whole });
  // Of other files, each node has its part.
  const differenceOfAll = (some: readonly ComparedFile[]) => some.reduce((sum, file) => sum + differenceOf(file), 0) / now.nodes;
  const [most] = files;
  if (most && isMain(differenceOfAll([most]), seconds)) return ofFile(most.path, seconds, now, before);
  const added = files.filter(file => file.before === null);
  const gone = files.filter(file => file.seconds === null);
  if (isMain(differenceOfAll(added), seconds)) return cause(pluralize(added.length, 'new test file'), seconds);
  if (isMain(differenceOfAll(gone), seconds)) return cause(`${pluralize(gone.length, 'test file')} that did not run`, seconds);
  return cause('the tests', seconds);
}

function ofFile(path: string, seconds: number, now: Measured, before: Measured): DifferenceCause {
  const [time, other] = [now.files.get(path), before.files.get(path)];
  const change = other === undefined ? ' (new)' : time === undefined ? ' (did not run)' : '';
  const file_seconds = time === undefined || other === undefined ? null : wholeMilliseconds(time - other);
  return cause(`${path}${change}`, seconds, { path, file_seconds });
}

/** Empty: there is no file. */
function longestOf(files: ReadonlyMap<string, number>): string {
  return [...files].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0] as const)[0];
}

/** Reports whether a difference goes the same way as another, and makes at least half of it. */
function isMain(part: number, whole: number): boolean {
  return part * whole > 0 && Math.abs(part) >= MAIN_PART * Math.abs(whole);
}

/** A loss, and the file or the node that made most of it, if the build lost more than before. */
function lossCause(name: Loss, now: MeasuredBuild, before: Measured): DifferenceCause {
  const seconds = now.parts[name] - before.parts[name];
  const [most] = now.minutes.parts.find(part => part.name === name)!.nodes;
  if (!most || !isMain(most.seconds / now.nodes, seconds)) return cause(PART_TITLES[name], seconds);
  const { timeline } = now;
  if (name === 'estimates') {
    const worst = overrunFile(now.minutes, most.node_index, seconds);
    return worst ? ofFile(timeline.paths[worst.file]!, seconds, now, before) : cause(PART_TITLES[name], seconds);
  }
  const text = ofNode(name, now, most.node_index);
  return text === null
    ? cause(PART_TITLES[name], seconds)
    : cause(`node ${most.node_index} ${text}`, seconds, { node_index: most.node_index });
}

/** Explains a loss by one node; null: the loss has no cause in a single node. */
function ofNode(name: Loss, { timeline, minutes }: MeasuredBuild, node_index: number): string | null {
  const { spans, start } = timeline.nodes[node_index]!;
  switch (name) {
    case 'slow_nodes':
      return 'was slow';
    case 'late_starts':
      return start === null ? 'took no files' : 'started late';
    case 'gaps':
      return hasRestarted({ spans }) ? 'restarted' : 'lost time between files';
    case 'repeats':
      if (timeline.nodes[node_index]!.isCancelled) return 'was cancelled';
      if (minutes.nodes[node_index]!.isLost) return 'was lost';
      if (spans.some(({ lease }) => lease === 'expired' || lease === 'returned')) return 'fell silent';
      return hasRestarted({ spans }) ? 'restarted' : 'ran files again';
    default:
      return null;
  }
}
