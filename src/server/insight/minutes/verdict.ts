import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import { NAME_CHARACTERS, shortened } from '../../../base/shortened.js';
import { type FailedFile, type MinutePartAnswer, type MinutesAnswer, PART_TITLES } from '../../../protocol/answers/minutes.js';
import { limits } from '../../../protocol/limits.js';
import { filesAmong } from '../../../protocol/piece-path.js';
import { median } from '../../planning/estimating/median.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import {
  expectedSeconds,
  hasLeft,
  hasRecordedLast,
  hasRestarted,
  type NodeLane,
  type Timeline,
  wasMostlyGuessed,
} from '../timeline/timeline.js';
import type { FileOutcomes } from './file-outcomes.js';
import type { LongExecution } from './floor.js';
import { decidingExecution, type LastNode, lastNode, leastDelay } from './last-node.js';
import { factorsOf, factorText, grownText, lateEnd, type ToldCause } from './late-end.js';
import { LOSSES, type Loss, type Minutes } from './minutes.js';
import { nodesText } from './nodes-text.js';

/** Times that differ from their estimates by this factor in the median of so many files mean something else than those before. */
const OTHER_TIMES = { files: 10, factor: 3 };

/** Repeats are reported when they took a node more than this part of the wall time. */
const REPEATS_PART = 0.02;

/** Unreported time is named when it is more than this part of the wall time. */
const UNREPORTED_PART = 0.05;

/** Part of the wall time beyond which a delay of all nodes is reported. */
const SHARED_PART = 0.1;

/** A node is overdue when its files take longer than expected by more than this, and more than twice as long. */
const OVERDUE_SECONDS = 60;

export interface Verdict {
  text: string;
  /** The files that it names. */
  paths: string[];
}

/** Says in a few sentences what is missing, what failed, which node ended last, what decided that, and what cost all nodes much. */
export function verdictOf(
  timeline: Timeline,
  minutes: Minutes,
  { missing, failed, flaky }: Pick<FileOutcomes, 'missing' | 'failed' | 'flaky'>,
): Verdict {
  const { nodes, is_running } = timeline;
  const started = nodes.filter(({ start }) => start !== null);
  const failures = failuresOf(timeline, failed ?? [], flaky);
  const losses = is_running ? '' : lossesOf(timeline, minutes, missing);
  if (started.length === 0) return { text: is_running ? 'No node has started yet.' : losses, paths: [] };
  if (is_running) return { ...failures, text: joined([failures.text, running(timeline, started)]) };
  const last = lastNode(timeline);
  const longest = decidingExecution(timeline, minutes);
  const cause = last && !longest ? lateEnd(timeline, minutes, last) : null;
  // What other nodes lose while they wait for that file costs nothing.
  const costs = longest ? [] : [unreported(timeline, minutes, cause), shared(timeline, minutes, cause)];
  const causes = [handOvers(timeline), repeats(timeline, minutes, cause), ...costs, otherTimes(timeline)];
  const isExplained = losses !== '' || longest !== null || cause !== null || causes.some(sentence => sentence !== '');
  const sentences = [
    losses,
    failures.text,
    emptyReruns(timeline),
    longest ? decided(timeline, minutes, longest) : ends(timeline, minutes, last, cause),
    ...causes,
    isExplained ? '' : rest(minutes),
  ];
  const slow = (longest ?? cause)?.file ?? null;
  return { text: joined(sentences), paths: [...failures.paths, ...(slow === null ? [] : [timeline.paths[slow]!])] };
}

function joined(sentences: readonly string[]): string {
  return sentences.filter(sentence => sentence !== '').join(' ');
}

/** Says which files failed, and which of them passed later; no text: none failed. */
function failuresOf(timeline: Timeline, failed: readonly FailedFile[], flaky: readonly FailedFile[]): Verdict {
  const { text, paths } = lastFailures(timeline, failed);
  if (flaky.length === 0) return { text, paths };
  const named = flaky.slice(0, limits.namedFailures).map(({ path }) => path);
  const more = flaky.length - named.length;
  const passed = `${pluralize(flaky.length, 'test file')} failed, and passed when ${agree(flaky.length, 'it', 'they')} ran again: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  return { text: joined([text, passed]), paths: [...paths, ...named] };
}

/** The first of the files that failed, by name, test case and node, and when the first batch with a failure was reported. */
function lastFailures(timeline: Timeline, failed: readonly FailedFile[]): Verdict {
  const { nodes } = timeline;
  const paths = failed.slice(0, limits.namedFailures).map(({ path }) => path);
  if (failed.length === 0) return { text: '', paths };
  const names = failed
    .slice(0, limits.namedFailures)
    .map(file => `${file.path}${caseText(file)} on node ${file.node_index}${file.is_muted ? ' (muted)' : ''}`);
  const more = failed.length - names.length;
  const count = filesAmong(failed.map(({ path }) => path));
  const pieces = count < failed.length ? `, in ${failed.length} pieces` : '';
  const all = `${pluralize(count, 'test file')} failed${pieces}: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  const text = joined([all, knownFlaky(timeline, failed)]);
  const red = nodes.flatMap(({ spans }) => spans.flatMap(span => (span.failed?.some(file => !span.muted?.includes(file)) ? span.to : [])));
  if (red.length === 0) return { text, paths };
  const first = red.reduce((min, at) => Math.min(min, at), Infinity);
  return { text: `${text} First red after ${durationText(first)}.`, paths };
}

function knownFlaky({ nodes, paths }: Timeline, failed: readonly FailedFile[]): string {
  // What failed when it ran again may not pass the next time.
  const failedAgain = new Set(
    nodes.flatMap(({ spans }) => spans.flatMap(span => (span.is_retry ? (span.failed ?? []) : []))).map(file => paths[file]),
  );
  const known = failed.filter(({ path, is_known_flaky }) => is_known_flaky && !failedAgain.has(path)).length;
  if (known === 0) return '';
  if (known < failed.length) return `${known} of these ${agree(known, 'is', 'are')} known to be flaky.`;
  return known === 1 ? 'It is known to be flaky: run it again.' : 'All of these are known to be flaky: run them again.';
}

function caseText({ first_case }: FailedFile): string {
  if (!first_case) return '';
  const { name, more } = first_case;
  return ` (${shortened(name, NAME_CHARACTERS)}${more > 0 ? ` and ${more} more` : ''})`;
}

function running(timeline: Timeline, started: readonly NodeLane[]): string {
  const { nodes, wall, kind } = timeline;
  // Nobody knows of a node that records at its end whether it is at work.
  if (kind === 'recordings')
    return `The build may be running: ${started.length} of ${nodes.length} nodes ${agree(started.length, 'has', 'have')} recorded.`;
  const atWork = started.filter(lane => lane.spans.at(-1)?.to === wall && !hasRecordedLast(lane));
  const ended = started.length - atWork.length;
  const most = kind === 'queue' && started.length < nodes.length ? 'at most ' : '';
  const state = `${atWork.length} of ${most}${nodes.length} nodes ${agree(atWork.length, 'is', 'are')} at work, ${ended} ${agree(ended, 'has', 'have')} ended.`;
  return [`The build is running: ${state}`, ...(ended > 0 ? awaited(atWork) : []), ...overdue(atWork, timeline)].join(' ');
}

/** Names the files that the nodes for which the others wait have not recorded: these files are lost if the nodes have died. */
function awaited(atWork: readonly NodeLane[]): string[] {
  const times = atWork.flatMap(({ spans }) => spans.flatMap(({ seconds }) => seconds));
  const files = times.filter(time => time === null).length;
  if (files === 0) return [];
  return [`${nodesText(indexesOf(atWork))} ${agree(atWork.length, 'has', 'have')} not recorded ${pluralize(files, 'test file')} yet.`];
}

/**
 * Names the nodes that have had their last files for far longer than these should take. Until a batch of guesses has ended, the time that files
 * should take is unknown.
 */
function overdue(atWork: readonly NodeLane[], timeline: Timeline): string[] {
  if (wasMostlyGuessed(timeline) && (timeline.cost?.slowdown ?? 1) === 1) return [];
  const late = atWork.flatMap(({ node_index, spans }) => {
    const { from, to, files } = spans.at(-1)!;
    const expected = expectedSeconds(timeline, files);
    const by = to - from - expected;
    return by > Math.max(OVERDUE_SECONDS, expected) ? [{ node_index, by }] : [];
  });
  if (late.length === 0) return [];
  const most = durationText(late.reduce((max, { by }) => Math.max(max, by), 0));
  const names = nodesText(late.map(({ node_index }) => node_index));
  return [
    `${names} ${agree(late.length, 'is overdue by', 'are overdue by up to')} ${most}: ${agree(late.length, 'it', 'they')} may have died.`,
  ];
}

function decided(timeline: Timeline, minutes: Minutes, longest: LongExecution): string {
  const { file, seconds, node_index } = longest;
  const share = durationText(minutes.parts.find(({ name }) => name === 'even_share')!.seconds);
  const { late } = minutes.nodes[node_index]!;
  const start = late > leastDelay(minutes.wall) ? ` That node started ${durationText(late)} late.` : '';
  return `${timeline.paths[file]} decides this build: it took ${durationText(seconds)} on node ${node_index}${grownText(timeline, longest)}, longer than an even share of ${share}.${start}`;
}

function ends(timeline: Timeline, minutes: Minutes, last: LastNode | null, cause: ToldCause | null): string {
  const counted = countedNodes(timeline);
  if (timeline.paths.length === 0) return '';
  if (!last) return counted.length === 1 && !minutes.nodes[counted[0]!.node_index]!.isLost ? 'One node ran everything.' : '';
  const { lane, before, late, first, spread } = last;
  const together = leastDelay(minutes.wall);
  const isWhole = counted.every(each => each.start !== null && hasRecordedLast(each) && !hasLeft(each));
  if (spread <= together) return `${isWhole ? 'All' : 'The other'} nodes finished within ${durationText(spread)} of each other.`;
  const why = cause ? `: ${cause.text}` : '';
  if (late <= together) {
    return `Nodes finished up to ${durationText(spread)} apart: node ${first.node_index} first, node ${lane.node_index} last${why}.`;
  }
  return `Node ${lane.node_index} finished ${durationText(late)} after node ${before.node_index}${why}.`;
}

/** Says how much time no report explains, and what to do; empty: reports explain nearly all, or another sentence says it. */
function unreported(timeline: Timeline, minutes: Minutes, cause: ToldCause | null): string {
  const { parts, wall, nodes } = minutes;
  const { seconds } = parts.find(({ name }) => name === 'unreported')!;
  if (seconds <= Math.max(leastDelay(wall), UNREPORTED_PART * wall) || cause?.name === 'unreported') return '';
  const ran = timeline.nodes.flatMap(({ spans }) => spans.flatMap(span => span.seconds)).filter(time => time !== null);
  const ofFile = nodes.reduce((sum, node) => sum + node.unreported, 0) / ran.length;
  return `A file took about ${durationText(ofFile)} that is in no report, ${durationText(seconds)} of the build: fewer and larger files, or a runner that keeps what it loads, would save most of that.`;
}

/**
 * Says that the times mean something else than those of the estimates, as after a change of the client: a report of Vitest leaves out what its
 * plugin measures. Empty: they do not.
 */
function otherTimes(timeline: Timeline): string {
  const factors = timeline.nodes.flatMap(({ spans }) => factorsOf(spans, timeline));
  const factor = median(factors);
  const difference = Math.max(factor, 1 / factor);
  if (factors.length < OTHER_TIMES.files || difference < OTHER_TIMES.factor) return '';
  return `The estimates of the test files were about ${factorText(difference)} too ${factor > 1 ? 'low' : 'high'}: another client or report may count other parts of a file's time. Later builds learn the new times.`;
}

/** The losses that `shared` may name. Of the others, another sentence tells. */
const SHARED: readonly Loss[] = ['slow_nodes', 'estimates', 'late_starts', 'gaps'];

/** Names the largest cost among the lost time, as a sentence; empty: it cost little, or another sentence tells it. */
function shared(timeline: Timeline, minutes: Minutes, cause: ToldCause | null): string {
  const { wall } = minutes;
  const most = largestLoss(minutes, SHARED);
  if (most.seconds <= Math.max(leastDelay(wall), SHARED_PART * wall)) return '';
  const isSaid = cause?.name === most.name || (most.name === 'late_starts' && countedNodes(timeline).some(({ start }) => start === null));
  if (isSaid) return '';
  const cost = `${durationText(most.seconds)} of the build`;
  const nodes = most.nodes.filter(({ seconds }) => seconds > leastDelay(wall)).map(({ node_index }) => node_index);
  const verbs: Partial<Record<Loss, string>> = {
    slow_nodes: `${agree(nodes.length, 'was', 'were')} slow`,
    late_starts: timeline.areStartsKnown ? 'started late' : `began ${agree(nodes.length, 'its', 'their')} first recorded files late`,
  };
  const verb = verbs[most.name];
  return verb && nodes.length > 0
    ? `${nodesText(nodes)} ${verb}, which cost ${cost}.`
    : `${cost} was lost to the ${PART_TITLES[most.name]}.`;
}

/** Says how much was lost, and to what most of it, where no other sentence explains it; empty: little. */
function rest(minutes: Minutes): string {
  const { wall, floor } = minutes;
  const lost = wall - floor;
  if (lost <= leastDelay(wall)) return '';
  const { name, seconds } = largestLoss(minutes, LOSSES);
  const part = seconds >= lost / 2 ? 'most of it' : `the largest part, ${durationText(seconds)},`;
  return `Nothing stands out: ${durationText(lost)} was lost, ${part} to the ${PART_TITLES[name]}.`;
}

function largestLoss({ parts }: Minutes, names: readonly Loss[]): MinutePartAnswer & { name: Loss } {
  const losses = parts.filter((part): part is MinutePartAnswer & { name: Loss } => names.some(name => name === part.name));
  return losses.reduce((most, each) => (each.seconds > most.seconds ? each : most));
}

/**
 * Names the nodes that recorded nothing, and what is missing, as a sentence; empty: none. It comes first, however little time that cost.
 */
export function lossesOf(timeline: Timeline, { nodes: minutes }: Minutes, missing: MinutesAnswer['missing']): string {
  const { nodes, kind } = timeline;
  const cancelled = nodes.filter(({ isCancelled }) => isCancelled);
  const lost = nodes.filter(({ node_index, isCancelled }) => minutes[node_index]!.isLost && !isCancelled);
  const never = countedNodes(timeline).filter(({ start }) => start === null);
  const files = missing.length === 0 ? '' : missingText(missing);
  const absent = [
    ...(cancelled.length > 0 && missing.length > 0
      ? [`${nodesText(indexesOf(cancelled))} ${agree(cancelled.length, 'was', 'were')} cancelled`]
      : []),
    ...(lost.length > 0
      ? [`${nodesText(indexesOf(lost))} recorded nothing after the last files that ${agree(lost.length, 'it', 'they')} got`]
      : []),
    ...(never.length > 0 ? [`${nodesText(indexesOf(never))} ${kind === 'queue' ? 'took no files' : 'recorded nothing'}`] : []),
  ];
  if (absent.length === 0) return files && `${files}: ${handedTo(missing)}.`;
  return `${absent.join('. ')}${files && `: ${files}`}.`;
}

/** Names one of the missing files: one that hangs is missing alone. */
function missingText(missing: MinutesAnswer['missing']): string {
  const { length } = missing;
  const name = shortened(missing[0]!.path, NAME_CHARACTERS);
  return `${pluralize(length, 'test file is', 'test files are')} missing (${name}${length > 1 ? ` and ${length - 1} more` : ''})`;
}

/** Names the nodes that were run again and got nothing, as a sentence: the gate does not take the build for complete. Empty: none. */
function emptyReruns({ nodes }: Timeline): string {
  const again = indexesOf(nodes.filter(({ ranNothingAgain }) => ranNothingAgain));
  return again.length === 0 ? '' : `${nodesText(again)} ran nothing when run again, so a green result proves nothing.`;
}

/** Names the nodes that got files, as a part of a sentence. */
function handedTo(files: MinutesAnswer['missing']): string {
  const nodes = [...new Set(files.map(({ node_index }) => node_index))].filter(node => node !== null).sort((a, b) => a - b);
  const them = agree(files.length, 'it', 'them');
  return nodes.length === 0 ? `no node got ${them}` : `${nodesText(nodes).toLowerCase()} got ${them}`;
}

/** Names the nodes that were cancelled, and whose files other nodes ran, as a sentence; empty: there are none, or files are missing. */
function handOvers({ nodes, state }: Timeline): string {
  const left = nodes.filter(({ isCancelled, spans }) => isCancelled && spans.some(({ lease }) => lease === 'cancelled'));
  if (left.length === 0 || state === 'cancelled' || state === 'missing') return '';
  return `${nodesText(indexesOf(left))} ${agree(left.length, 'was', 'were')} cancelled, and other nodes ran ${agree(left.length, 'its', 'their')} files.`;
}

/** Names the nodes that gave files back or restarted, as a sentence; empty: none did, or it cost little, or another sentence tells it. */
function repeats({ nodes }: Timeline, { nodes: minutes, wall }: Minutes, cause: ToldCause | null): string {
  const costly = nodes.filter(({ start, node_index }) => start !== null && minutes[node_index]!.repeats > wall * REPEATS_PART);
  const silent = costly.filter(({ spans }) => spans.some(({ lease }) => lease === 'expired' || lease === 'returned'));
  if (silent.length > 0) return `${nodesText(indexesOf(silent))} fell silent, and ${agree(silent.length, 'its', 'their')} files ran again.`;
  // Of a node that ended late because of its repeats the sentence before says why.
  const said = cause?.name === 'repeats' || cause?.name === 'gaps' ? cause.node_index : null;
  const restarted = costly.filter(lane => lane.node_index !== said && hasRestarted(lane));
  return restarted.length > 0 ? `${nodesText(indexesOf(restarted))} restarted, and files ran again.` : '';
}

function indexesOf(nodes: readonly NodeLane[]): number[] {
  return nodes.map(({ node_index }) => node_index);
}
