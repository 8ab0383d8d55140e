import { durationText } from '../../../base/duration.js';
import { median } from '../../planning/estimating/median.js';
import { hasRestarted, type NodeLane, type Span, type Timeline, type TimelineFiles } from '../timeline/timeline.js';
import type { LongExecution } from './floor.js';
import { delayOf, type LastNode, leastDelay, mainCause, overrunFile } from './last-node.js';
import type { CauseName, Overrun } from './last-span.js';
import type { Minutes } from './minutes.js';
import { nodesText } from './nodes-text.js';

/** The loss of a node is compared with another node when that one lost more than a tenth of it, too. */
const OWN_PART = 0.9;

/** Times that are longer than their estimates by less than this factor are as estimated. */
const LEAST_OVERRUN = 1.05;

/** A file that decides a build has grown when it takes this factor of its estimate. */
const GROWN = 1.5;

/** Fewer other files of a node do not tell whether a file grew or the node is slow. */
const OTHER_FILES = 2;

/** The cause of a late end, as the verdict tells it. */
export interface ToldCause {
  name: CauseName;
  /** The node that ended late. */
  node_index: number;
  /** A part of a sentence. */
  text: string;
  /** The file in it. */
  file: number | null;
}

/** Why the last node ended late, in a build that no file decides; null: it did not, or no cause stands out. */
export function lateEnd(timeline: Timeline, minutes: Minutes, last: LastNode): ToldCause | null {
  const main = last.spread > leastDelay(minutes.wall) ? mainCause(minutes, last) : null;
  if (!main) return null;
  const { lane } = last;
  const { name, seconds, more, other } = main;
  const slow = name === 'estimates' ? slowFile(timeline, minutes, last) : null;
  const compared = more < OWN_PART * seconds ? `, ${durationText(more)} more than node ${other}` : '';
  const files = lane.spans.length > 1 ? 'its last files' : 'its files';
  const texts: Record<CauseName, () => string> = {
    estimates: () => slow?.text ?? wrongEstimates(lane.spans.at(-1)!, timeline),
    slow_nodes: () => `it took ${factorText(minutes.nodes[lane.node_index]!.slowness ?? 1)} as long as other nodes for its files`,
    late_starts: () => `${timeline.areStartsKnown ? 'it' : 'its first recorded file'} started ${durationText(seconds)} late${compared}`,
    unreported: () => `${files} took ${durationText(seconds)} that is in no report${compared}`,
    gaps: () =>
      hasRestarted(lane) ? `it restarted, ${durationText(seconds)} late` : `it lost ${durationText(seconds)} between ${files}${compared}`,
    repeats: () => whyRepeated(lane, timeline.nodes),
  };
  const text = (name === 'gaps' || name === 'repeats' ? retriedText(lane, timeline) : null) ?? texts[name]();
  return text === '' ? null : { name, node_index: lane.node_index, text, file: slow?.file ?? null };
}

/** Says that the last node retried a file, or waited until another one had; null: it did neither. */
function retriedText({ node_index, end }: NodeLane, { paths, nodes, wall }: Timeline): string | null {
  const retries = nodes.flatMap(lane => lane.spans.flatMap(span => (span.is_retry ? { node_index: lane.node_index, span } : [])));
  const last = retries.findLast(({ span }) => end! - span.to <= leastDelay(wall));
  const [file] = last?.span.files ?? [];
  if (!last || file === undefined) return null;
  const hasFailed = ({ spans }: NodeLane) => spans.some(span => !span.is_retry && span.failed?.includes(file));
  const failedOn = nodes.filter(hasFailed).map(lane => lane.node_index);
  const it = last.node_index === node_index ? 'it retried' : `it waited until node ${last.node_index} had retried`;
  return `${it} ${paths[file]}, which had failed on ${nodesText(failedOn).toLowerCase()}`;
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
    : `it ran files that ${nodesText(lost.map(({ node_index }) => node_index)).toLowerCase()} had before and did not record`;
}

/** The file that made the last node late, and how; null: none, or the files of that node took about as much longer, so the node may be slow. */
function slowFile(timeline: Timeline, minutes: Minutes, last: LastNode): Pick<ToldCause, 'file' | 'text'> | null {
  const { lane } = last;
  const worst = overrunFile(minutes, lane.node_index, delayOf(last, minutes.wall));
  if (!worst) return null;
  const { file, seconds } = worst;
  const { factor, by } = growthOf(timeline, lane, worst);
  if (by === 'node') return null;
  const took =
    factor === null ? `${durationText(seconds)} there, and had not been measured before` : `${factorText(factor)} its estimate there`;
  return { file, text: `${timeline.paths[file]} took ${took}${by === null ? UNCLEAR : ''}` };
}

const UNCLEAR = ' (it grew, or the node is slow)';

/** Says how much longer than estimated a file that decides a build took, as a part of a sentence; empty: little, or nobody knows. */
export function grownText(timeline: Timeline, { file, seconds, node_index }: LongExecution): string {
  const { factor, others, by } = growthOf(timeline, timeline.nodes[node_index]!, { file, seconds });
  if (factor === null || factor < GROWN) return '';
  return by === 'node'
    ? `, where files took ${factorText(others)} their estimates`
    : `, ${factorText(factor)} its estimate${by === null ? UNCLEAR : ''}`;
}

interface Growth {
  /** The time of the file relative to its estimate; null: it was never measured. */
  factor: number | null;
  /** The median of the same for the other files of the node, or of all nodes if these are too few. */
  others: number;
  /** The file or its node; null: the node ran too few other files to tell. */
  by: 'file' | 'node' | null;
}

/** Tells whether a file took longer than estimated, or its node took longer for all files, as all nodes may have. */
function growthOf(
  { estimates, is_guess, nodes }: Pick<Timeline, 'estimates' | 'is_guess' | 'nodes'>,
  { spans }: NodeLane,
  { file, seconds }: Pick<Overrun, 'file' | 'seconds'>,
): Growth {
  const estimate = is_guess[file] === 1 ? null : (estimates[file] ?? null);
  if (estimate === null) return { factor: null, others: 0, by: 'file' };
  const own = factorsOf(spans, { estimates, is_guess }, file);
  const isKnown = own.length >= OTHER_FILES;
  const others = median(isKnown ? own : nodes.flatMap(node => factorsOf(node.spans, { estimates, is_guess }, file)));
  const factor = seconds / estimate;
  // On a scale of factors, the others are nearer to that of the file than to 1.
  return { factor, others, by: others ** 2 > factor ? 'node' : isKnown ? 'file' : null };
}

/** Says how much longer than estimated the measured files of a span took together; empty: hardly. */
function wrongEstimates(span: Span, files: Estimates): string {
  const measured = measuredIn([span], files);
  const sumOf = (name: 'seconds' | 'estimate') => measured.reduce((sum, each) => sum + each[name], 0);
  const factor = sumOf('seconds') / sumOf('estimate');
  return factor > LEAST_OVERRUN ? `its last files took ${factorText(factor)} their estimates` : '';
}

/** The factors of measured estimates that files took, without one file. */
export function factorsOf(spans: readonly Span[], files: Estimates, without: number | null = null): number[] {
  return measuredIn(spans, files).flatMap(({ file, seconds, estimate }) =>
    seconds > 0 && estimate > 0 && file !== without ? seconds / estimate : [],
  );
}

type Estimates = Pick<TimelineFiles, 'estimates' | 'is_guess'>;

/** The recorded times of files beside their measured estimates. */
function measuredIn(spans: readonly Span[], { estimates, is_guess }: Estimates): { file: number; seconds: number; estimate: number }[] {
  return spans.flatMap(({ files, seconds: times }) =>
    files.flatMap((file, i) => {
      const [seconds, estimate] = [times[i] ?? null, estimates[file] ?? null];
      return seconds === null || estimate === null || is_guess[file] === 1 ? [] : [{ file, seconds, estimate }];
    }),
  );
}

export function factorText(factor: number): string {
  return `${factor < 9.95 ? factor.toFixed(1) : Math.round(factor)}x`;
}
