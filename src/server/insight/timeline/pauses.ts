import type { Batch } from '../../engine/queue/batch.js';
import { isRecorded, type NodeLane, withTimes } from './timeline.js';

/** CI systems replace a lost node sooner. After a longer time without files, somebody retried a node. */
const PAUSE_MILLISECONDS = 300_000;

/**
 * Cuts the pauses out of the lanes. A pause is a time in which no node had files, after each node had begun. If every node had recorded its
 * files, the build had ended, and somebody retried a node later. Otherwise only a long time without files is a pause. Times are
 * milliseconds. Returns the lanes without the pauses, and the sum of the pauses.
 */
export function cutPauses(lanes: readonly NodeLane[]): { nodes: NodeLane[]; paused: number } {
  const pauses = pausesIn(lanes);
  const earlier = (time: number) => pauses.reduce((at, { from, to }) => at - Math.max(0, Math.min(time, to) - from), time);
  const paused = pauses.reduce((sum, { from, to }) => sum + to - from, 0);
  return { nodes: lanes.map(lane => withTimes(lane, earlier)), paused };
}

interface Interval {
  from: number;
  to: number;
}

/** Reports whether a node had recorded the files that it got before a time; true if it had got none. */
function hadRecorded({ spans }: NodeLane, at: number): boolean {
  const last = spans.findLast(({ from }) => from < at);
  return !last || isRecorded(last);
}

function pausesIn(lanes: readonly NodeLane[]): Interval[] {
  const came = lanes.filter(({ start }) => start !== null);
  const lastStart = Math.max(...came.map(({ start }) => start!));
  const active: Interval[] = came.flatMap(({ recordedAt, spans }) => [
    ...spans,
    ...(recordedAt === null ? [] : [{ from: recordedAt, to: recordedAt }]),
  ]);
  const pauses: Interval[] = [];
  let to = lastStart;
  for (const interval of active.sort((a, b) => a.from - b.from)) {
    // A node that records after the others has not begun again.
    const isRetry = interval.from > to && interval.to > interval.from && came.every(lane => hadRecorded(lane, interval.from));
    if (isRetry || interval.from - to > PAUSE_MILLISECONDS) pauses.push({ from: to, to: interval.from });
    to = Math.max(to, interval.to);
  }
  return pauses;
}

/**
 * Returns the time to add to each batch, and to later times of its node, so that a clock that was set back does not jump: the next batch follows the
 * last one immediately, because the time between them is unknown.
 *
 * @param batches in the order of their numbers, which is the order of their hand-outs
 */
export function shiftsOf(batches: readonly Batch[]): Map<Batch, number> {
  const shifts = new Map<Batch, number>();
  let shift = 0;
  let last = -Infinity;
  for (const batch of batches) {
    shift = Math.max(shift, last - batch.handed_at);
    last = batch.handed_at + shift;
    shifts.set(batch, shift);
  }
  return shifts;
}
