import type { Millis } from '../../ports/store.js';
import type { Batch } from '../../queue/batch.js';

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
