import type { Millis } from '../../ports/store.js';
import type { Batch } from '../../queue/batch.js';
import type { NodeLane, Span } from './timeline.js';

/** A node that was lost is replaced sooner. After a longer time somebody retried it. */
const PAUSE_MILLISECONDS = 300_000;

/**
 * Cuts pauses out of the lanes: the time in which no node had files, after each node had begun. If every node had recorded what it had, the
 * build had ended, and somebody retried a node later; else only a long time is a pause. Returns the lanes with earlier times after each
 * pause, and how long the pauses were.
 */
export function cutPauses(lanes: readonly NodeLane[]): { nodes: NodeLane[]; paused: number } {
  const pauses = pausesIn(lanes);
  const earlier = (time: number) => pauses.reduce((at, { from, to }) => at - Math.max(0, Math.min(time, to) - from), time);
  const orNull = (time: number | null) => (time === null ? null : earlier(time));
  const spanOf = (span: Span): Span => ({ ...span, from: earlier(span.from), to: earlier(span.to) });
  const paused = pauses.reduce((sum, { from, to }) => sum + to - from, 0);
  if (paused === 0) return { nodes: [...lanes], paused };
  const nodes = lanes.map(lane => ({
    ...lane,
    start: orNull(lane.start),
    recordedAt: orNull(lane.recordedAt),
    end: orNull(lane.end),
    spans: lane.spans.map(spanOf),
  }));
  return { nodes, paused };
}

interface Interval {
  from: number;
  to: number;
}

/** Whether a node had recorded what it had before a time. A node that ran nothing had. */
function hadRecorded({ spans }: NodeLane, at: number): boolean {
  const last = spans.findLast(({ from }) => from < at);
  return !last || last.seconds.some(seconds => !Number.isNaN(seconds));
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

/** The times of a queue's batches, without the jumps of a clock that was set back. */
export interface SteadyTimes {
  /** By batch. */
  handedAt: ReadonlyMap<Batch, Millis>;
  /** By batch: what was added to its time. Later events of the same node get it, too. */
  shifts: ReadonlyMap<Batch, number>;
}

/** @param batches in the order of their numbers, which is the order of their hand-outs */
export function steadyTimes(batches: readonly Batch[]): SteadyTimes {
  const handedAt = new Map<Batch, Millis>();
  const shifts = new Map<Batch, number>();
  let shift = 0;
  let last = -Infinity;
  for (const batch of batches) {
    // The next batch follows the last one immediately, because the time between them is unknown.
    shift = Math.max(shift, last - batch.handed_at);
    last = batch.handed_at + shift;
    handedAt.set(batch, last);
    shifts.set(batch, shift);
  }
  return { handedAt, shifts };
}
