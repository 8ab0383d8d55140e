import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import type { MinutesAnswer, PartName } from '../../../protocol/answers/minutes.js';
import { median } from '../../planning/estimating/median.js';
import {
  expectedSeconds,
  hasRecordedLast,
  type NodeLane,
  type Span,
  type Timeline,
  type TimelineFiles,
  wasMostlyGuessed,
} from '../timeline/timeline.js';
import { decidingExecution, type LastNode, lastNode, leastDelay, mainCause, overrunFile } from './last-node.js';
import type { Minutes } from './minutes.js';

/** Times that differ from their estimates by this factor in the median of so many files mean something else than those before. */
const OTHER_TIMES = { files: 10, factor: 3 };

/** Repeats are reported when they took a node more than this part of the wall time. */
const REPEATS_PART = 0.02;

/** Unreported time is named when it is more than this part of the wall time. */
const UNREPORTED_PART = 0.05;

/** Part of the wall time beyond which a delay of all nodes is reported. */
const SHARED_PART = 0.1;

/** The loss of a node is compared with another node when that one lost more than a tenth of it, too. */
const OWN_PART = 0.9;

/** A node is overdue when its files take longer than expected by more than this, and more than twice as long. */
const OVERDUE_SECONDS = 60;

/**
 * Says in a few sentences what is missing, which node ended last, what decided that, and what cost all nodes much.
 *
 * @param missing the files that were planned and not recorded
 */
export function verdictOf(timeline: Timeline, minutes: Minutes, missing: MinutesAnswer['missing']): string {
  const { nodes, is_running } = timeline;
  const started = nodes.filter(({ start }) => start !== null);
  if (started.length === 0) return is_running ? 'No node has started yet.' : lossesOf(timeline, minutes, missing);
  if (is_running) return running(timeline, started);
  const last = lastNode(timeline);
  const sentences = [
    lossesOf(timeline, minutes, missing),
    emptyReruns(timeline),
    decision(timeline, minutes, last),
    repeats(timeline, minutes, last),
    unreported(timeline, minutes, last),
    shared(timeline, minutes, last),
    otherTimes(timeline),
  ];
  return sentences.filter(sentence => sentence !== '').join(' ');
}

/** The file that the verdict names; null: it names none. */
export function fileInVerdict(timeline: Timeline, minutes: Minutes): number | null {
  if (timeline.is_running) return null;
  const longest = decidingExecution(timeline, minutes);
  if (longest) return longest.file;
  const last = lastNode(timeline);
  if (!last || !isCauseOf(last, minutes, 'estimates')) return null;
  return overrunFile(last.lane.spans.at(-1)!, timeline, delayOf(last, minutes))?.file ?? null;
}

function running(timeline: Timeline, started: readonly NodeLane[]): string {
  const { nodes, wall, kind } = timeline;
  // Nobody knows of a node that records at its end whether it is at work.
  if (kind === 'recordings')
    return `The build may be running: ${started.length} of ${nodes.length} nodes ${agree(started.length, 'has', 'have')} recorded.`;
  const atWork = started.filter(lane => lane.spans.at(-1)?.to === wall && !hasRecordedLast(lane));
  const ended = started.length - atWork.length;
  const state = `${atWork.length} of ${nodes.length} nodes ${agree(atWork.length, 'is', 'are')} at work, ${ended} ${agree(ended, 'has', 'have')} ended.`;
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

function decision(timeline: Timeline, minutes: Minutes, last: LastNode | null): string {
  const longest = decidingExecution(timeline, minutes);
  if (longest) {
    const { file, seconds, node_index } = longest;
    const share = durationText(minutes.parts.find(({ name }) => name === 'even_share')!.seconds);
    const { late } = minutes.nodes[node_index]!;
    const start = late > leastDelay(minutes.wall) ? ` That node started ${durationText(late)} late.` : '';
    return `${timeline.paths[file]} decides this build: it took ${durationText(seconds)} on node ${node_index}, longer than an even share of ${share}.${start}`;
  }
  if (!last) return minutes.nodes.length === 1 && !minutes.nodes[0]!.isLost ? 'One node ran everything.' : '';
  const { lane, before, late, first, spread } = last;
  const together = leastDelay(minutes.wall);
  const isWhole = timeline.nodes.every(each => each.start !== null && hasRecordedLast(each));
  if (spread <= together) return `${isWhole ? 'All' : 'The other'} nodes finished within ${durationText(spread)} of each other.`;
  const cause = causeOf(timeline, minutes, last);
  if (late <= together) {
    return `Nodes finished up to ${durationText(spread)} apart: node ${first.node_index} first, node ${lane.node_index} last${cause && `: ${cause}`}.`;
  }
  return `Node ${lane.node_index} finished ${durationText(late)} after node ${before.node_index}${cause && `: ${cause}`}.`;
}

/** Why the last node ended late, as a part of a sentence; empty: no cause stands out. */
function causeOf(timeline: Timeline, minutes: Minutes, last: LastNode): string {
  const { lane } = last;
  const { areStartsKnown, nodes } = timeline;
  const main = mainCause(minutes, last);
  if (!main) return '';
  const own = minutes.nodes[lane.node_index]!;
  const compared = (seconds: number) => (main.more < OWN_PART * seconds ? `, ${durationText(main.more)} more than node ${main.other}` : '');
  const texts: Partial<Record<PartName, () => string>> = {
    estimates: () => wrongEstimate(lane.spans.at(-1)!, timeline, delayOf(last, minutes)),
    slow_nodes: () => `it took ${factorText(own.slowness ?? 1)} as long as other nodes for its files`,
    late_starts: () => `${areStartsKnown ? 'it' : 'its first recorded file'} started ${durationText(own.late)} late${compared(own.late)}`,
    unreported: () => `its files took ${durationText(own.unreported)} that is in no report${compared(own.unreported)}`,
    gaps: () => (own.gaps > 0 ? `it lost ${durationText(own.gaps)} between its files${compared(own.gaps)}` : ''),
    repeats: () => whyRepeated(lane, nodes),
  };
  return texts[main.name]?.() ?? '';
}

/** Delay of the last node: after the node before it or, where these ended together, after the first one. */
function delayOf({ late, spread }: LastNode, { wall }: Minutes): number {
  return late > leastDelay(wall) ? late : spread;
}

function whyRepeated(lane: NodeLane, nodes: readonly NodeLane[]): string {
  if (lane.spans.some(({ is_replay }) => is_replay)) return 'it restarted, and ran its files again';
  const ran = new Set(lane.spans.flatMap(({ files }) => files));
  const lost = nodes.filter(
    ({ node_index, spans }) =>
      node_index !== lane.node_index && spans.some(({ files, seconds }) => files.some((file, i) => seconds[i] === null && ran.has(file))),
  );
  return lost.length === 0
    ? 'it ran files that had run before'
    : `it ran files that ${nodesText(indexesOf(lost)).toLowerCase()} had before and did not record`;
}

function wrongEstimate(span: Span, files: TimelineFiles, delay: number): string {
  const worst = overrunFile(span, files, delay);
  if (worst && files.is_guess[worst.file] === 1)
    return `${files.paths[worst.file]} took ${durationText(worst.seconds)} there, and had not been measured before`;
  if (worst) return `${files.paths[worst.file]} took ${factorText(worst.seconds / files.estimates[worst.file]!)} its estimate there`;
  let actual = 0;
  let estimated = 0;
  for (const [i, file] of span.files.entries()) {
    const [seconds, estimate] = [span.seconds[i] ?? null, files.estimates[file] ?? null];
    if (seconds === null || estimate === null || files.is_guess[file] === 1) continue;
    actual += seconds;
    estimated += estimate;
  }
  return actual > estimated ? `its last files took ${factorText(actual / estimated)} their estimates` : '';
}

/** Says how much time no report explains, and what to do; empty: reports explain nearly all, or another sentence says it. */
function unreported(timeline: Timeline, minutes: Minutes, last: LastNode | null): string {
  const { parts, wall, nodes } = minutes;
  const { seconds } = parts.find(({ name }) => name === 'unreported')!;
  if (seconds <= Math.max(leastDelay(wall), UNREPORTED_PART * wall) || decidingExecution(timeline, minutes)) return '';
  if (last && isCauseOf(last, minutes, 'unreported')) return '';
  const ran = timeline.nodes.flatMap(({ spans }) => spans.flatMap(span => span.seconds)).filter(time => time !== null);
  const ofFile = nodes.reduce((sum, node) => sum + node.unreported, 0) / ran.length;
  return `A file took about ${durationText(ofFile)} that is in no report, ${durationText(seconds)} of the build: fewer and larger files, or a runner that keeps what it loads, would save most of that.`;
}

/**
 * Says that the times mean something else than those of the estimates, as after a change of the client: a report of Vitest leaves out what its
 * plugin measures. Empty: they do not.
 */
function otherTimes({ nodes, estimates, is_guess }: Timeline): string {
  const factors = nodes.flatMap(({ spans }) =>
    spans.flatMap(({ files, seconds }) =>
      files.flatMap((file, i) => {
        const [took, estimate] = [seconds[i] ?? 0, estimates[file] ?? 0];
        return took > 0 && estimate > 0 && is_guess[file] !== 1 ? took / estimate : [];
      }),
    ),
  );
  const factor = median(factors);
  const difference = Math.max(factor, 1 / factor);
  if (factors.length < OTHER_TIMES.files || difference < OTHER_TIMES.factor) return '';
  return `The estimates of the test files were about ${factorText(difference)} too ${factor > 1 ? 'low' : 'high'}: another client or report may count other parts of a file's time. Later builds learn the new times.`;
}

const SHARED: Partial<Record<PartName, string>> = {
  slow_nodes: 'Slow nodes',
  estimates: 'Wrong estimates',
  late_starts: 'Late starts',
  gaps: 'The start and end of the test runner',
};

/** Names the largest cost among the lost time, as a sentence; empty: it cost little, or another sentence tells it. */
function shared(timeline: Timeline, minutes: Minutes, last: LastNode | null): string {
  const { parts, wall } = minutes;
  const [most] = parts.filter(({ name }) => SHARED[name] !== undefined).sort((a, b) => b.seconds - a.seconds);
  if (!most || most.seconds <= Math.max(leastDelay(wall), SHARED_PART * wall) || decidingExecution(timeline, minutes)) return '';
  const isSaid =
    (last && isCauseOf(last, minutes, most.name)) || (most.name === 'late_starts' && timeline.nodes.some(({ start }) => start === null));
  return isSaid ? '' : `${SHARED[most.name]} cost ${durationText(most.seconds)} of the build.`;
}

/**
 * Names the nodes that recorded nothing, and the number of missing files, as a sentence; empty: none. It comes first, however little time that cost.
 */
export function lossesOf({ nodes, kind }: Timeline, { nodes: minutes }: Minutes, missing: MinutesAnswer['missing']): string {
  const cancelled = nodes.filter(({ isCancelled }) => isCancelled);
  const lost = nodes.filter(({ node_index, isCancelled }) => minutes[node_index]!.isLost && !isCancelled);
  const never = nodes.filter(({ start }) => start === null);
  const files = missing.length === 0 ? '' : `${pluralize(missing.length, 'test file is', 'test files are')} missing`;
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

/** Names the nodes that gave files back or restarted, as a sentence; empty: none did, or it cost little, or another sentence tells it. */
function repeats({ nodes }: Timeline, { nodes: minutes, parts, wall }: Minutes, last: LastNode | null): string {
  const costly = nodes.filter(({ start, node_index }) => start !== null && minutes[node_index]!.repeats > wall * REPEATS_PART);
  const silent = costly.filter(({ spans }) => spans.some(({ lease }) => lease === 'expired' || lease === 'returned'));
  if (silent.length > 0) return `${nodesText(indexesOf(silent))} fell silent, and ${agree(silent.length, 'its', 'their')} files ran again.`;
  // Of a node that ended late because of its repeats the sentence before says why.
  const isSaid = ({ node_index }: NodeLane) => last?.lane.node_index === node_index && isCauseOf(last, { parts, wall }, 'repeats');
  const restarted = costly.filter(lane => !isSaid(lane) && lane.spans.some(({ lease, is_replay }) => lease === 'restarted' || is_replay));
  return restarted.length > 0 ? `${nodesText(indexesOf(restarted))} restarted, and files ran again.` : '';
}

/** Reports whether the sentence about the last node names this part as the cause of its delay. */
function isCauseOf(last: LastNode, minutes: Pick<Minutes, 'parts' | 'wall'>, name: PartName): boolean {
  return last.spread > leastDelay(minutes.wall) && mainCause(minutes, last)?.name === name;
}

function indexesOf(nodes: readonly NodeLane[]): number[] {
  return nodes.map(({ node_index }) => node_index);
}

const NODES_NAMED = 5;

/** Names nodes at the start of a sentence. */
export function nodesText(indexes: readonly number[]): string {
  const named = indexes.slice(0, NODES_NAMED).join(', ');
  const more = indexes.length - NODES_NAMED;
  return `${agree(indexes.length, 'Node', 'Nodes')} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

function factorText(factor: number): string {
  return `${factor < 9.95 ? factor.toFixed(1) : Math.round(factor)}x`;
}
