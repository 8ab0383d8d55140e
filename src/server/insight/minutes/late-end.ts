import { durationText } from '../../../base/duration.js';
import { median } from '../../planning/estimating/median.js';
import type { NodeLane, Span, Timeline, TimelineFiles } from '../timeline/timeline.js';
import type { LongExecution } from './floor.js';
import { decidingExecution, delayOf, type LastNode, leastDelay, mainCause, overrunFile } from './last-node.js';
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
  /** A part of a sentence. */
  text: string;
  /** The file in it. */
  file: number | null;
}

/** Why the last node ended late; null: it did not, or no cause stands out, or a file decides the build. */
export function lateEnd(timeline: Timeline, minutes: Minutes, last: LastNode): ToldCause | null {
  const main = last.spread > leastDelay(minutes.wall) && !decidingExecution(timeline, minutes) ? mainCause(minutes, last) : null;
  if (!main) return null;
  const { lane } = last;
  const { name, seconds, more, other } = main;
  const worst = name === 'estimates' ? slowFile(timeline, minutes, last) : null;
  const compared = more < OWN_PART * seconds ? `, ${durationText(more)} more than node ${other}` : '';
  const files = lane.spans.length > 1 ? 'its last files' : 'its files';
  const texts: Record<CauseName, () => string> = {
    estimates: () => (worst ? slowFileText(timeline, lane, worst) : wrongEstimates(lane.spans.at(-1)!, timeline)),
    slow_nodes: () => `it took ${factorText(minutes.nodes[lane.node_index]!.slowness ?? 1)} as long as other nodes for its files`,
    late_starts: () => `${timeline.areStartsKnown ? 'it' : 'its first recorded file'} started ${durationText(seconds)} late${compared}`,
    unreported: () => `${files} took ${durationText(seconds)} that is in no report${compared}`,
    gaps: () =>
      hasRestarted(lane) ? `it restarted, ${durationText(seconds)} late` : `it lost ${durationText(seconds)} between ${files}${compared}`,
    repeats: () => whyRepeated(lane, timeline.nodes),
  };
  const text = texts[name]();
  return text === '' ? null : { name, text, file: worst?.file ?? null };
}

function hasRestarted({ spans }: NodeLane): boolean {
  return spans.some(({ is_replay, lease }) => is_replay || lease === 'restarted');
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

/** The file that made the last node late, unless the files of that node took about as much longer: then the node may be slow. */
function slowFile(timeline: Timeline, minutes: Minutes, last: LastNode): Overrun | null {
  const worst = overrunFile(minutes, last.lane.node_index, delayOf(last, minutes.wall));
  return worst && growthOf(timeline, last.lane, worst).by === 'node' ? null : worst;
}

function slowFileText(timeline: Timeline, lane: NodeLane, { file, seconds }: Overrun): string {
  const { factor, by } = growthOf(timeline, lane, { file, seconds });
  const path = timeline.paths[file]!;
  if (factor === null) return `${path} took ${durationText(seconds)} there, and had not been measured before`;
  return `${path} took ${factorText(factor)} its estimate there${by === null ? UNCLEAR : ''}`;
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
  const own = factorsOf(spans, { estimates, is_guess }, file);
  const isKnown = own.length >= OTHER_FILES;
  const others = median(isKnown ? own : nodes.flatMap(node => factorsOf(node.spans, { estimates, is_guess }, file)));
  const estimate = is_guess[file] === 1 ? null : (estimates[file] ?? null);
  if (estimate === null) return { factor: null, others, by: 'file' };
  const factor = seconds / estimate;
  // On a scale of factors, the others are nearer to that of the file than to 1.
  return { factor, others, by: others ** 2 > factor ? 'node' : isKnown ? 'file' : null };
}

/** Says how much longer than estimated the measured files of a span took together; empty: hardly. */
function wrongEstimates({ files, seconds }: Span, { estimates, is_guess }: TimelineFiles): string {
  const sums = { actual: 0, estimated: 0 };
  for (const [i, file] of files.entries()) {
    const [took, estimate] = [seconds[i] ?? null, estimates[file] ?? null];
    if (took === null || estimate === null || is_guess[file] === 1) continue;
    sums.actual += took;
    sums.estimated += estimate;
  }
  const factor = sums.actual / sums.estimated;
  return factor > LEAST_OVERRUN ? `its last files took ${factorText(factor)} their estimates` : '';
}

/** The factors of measured estimates that files took, without one file. */
export function factorsOf(
  spans: readonly Span[],
  { estimates, is_guess }: Pick<TimelineFiles, 'estimates' | 'is_guess'>,
  without: number | null = null,
): number[] {
  return spans.flatMap(({ files, seconds }) =>
    files.flatMap((file, i) => {
      const [took, estimate] = [seconds[i] ?? 0, estimates[file] ?? 0];
      return took > 0 && estimate > 0 && is_guess[file] !== 1 && file !== without ? took / estimate : [];
    }),
  );
}

export function factorText(factor: number): string {
  return `${factor < 9.95 ? factor.toFixed(1) : Math.round(factor)}x`;
}
