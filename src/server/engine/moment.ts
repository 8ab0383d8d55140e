import type { QueueInfo } from './ports/queues.js';

/** A moment in the history of a build. */
export interface Moment {
  /** Number of runs of the build that were recorded before. */
  runs_before: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Returns when a split or queue was created. */
export function beginningOf({ created_at: at, runs_before }: { created_at: number; runs_before: number }): Moment {
  return { runs_before, at };
}

/** The moment after which recorded runs count for a queue: its creation, or for a copy the time of the copy. */
export function beginningOfQueue(queue: Pick<QueueInfo, 'copied' | 'created_at' | 'runs_before'>): Moment {
  return queue.copied ?? beginningOf(queue);
}

/** Reports whether a run was recorded after a moment. Ordinals decide, because a clock can be set back. */
export function isAfter({ ordinal }: { ordinal: number }, { runs_before }: Moment): boolean {
  return ordinal > runs_before;
}

/** Reports whether a moment is later than another one of the same build. */
export function isLater(moment: Moment, other: Moment): boolean {
  return moment.runs_before === other.runs_before ? moment.at > other.at : moment.runs_before > other.runs_before;
}
