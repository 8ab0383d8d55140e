/** A moment in the history of a build. */
export interface Moment {
  /** How many runs of the build were recorded before; null: an older store kept the time only. */
  runs_before: number | null;
  /** Milliseconds since 1970. */
  at: number;
}

/** Returns when a split or queue was created. */
export function beginningOf({ created_at: at, runs_before }: { created_at: number; runs_before?: number }): Moment {
  return { runs_before: runs_before ?? null, at };
}

/** The place of a recorded run in the history of its build. */
export interface RecordingOrder {
  /** The number of the run in its build, from 1, never reused; 0: an older store recorded it. */
  ordinal: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Whether a run was recorded after a moment. It compares ordinals where it can, because a clock can be set back. */
export function isAfter({ ordinal, at }: RecordingOrder, moment: Moment): boolean {
  return moment.runs_before === null ? at >= moment.at : ordinal > moment.runs_before;
}

/** Whether a moment is later than another one of the same build. */
export function isLater(moment: Moment, other: Moment): boolean {
  if (moment.runs_before !== null && other.runs_before !== null && moment.runs_before !== other.runs_before)
    return moment.runs_before > other.runs_before;
  return moment.at > other.at;
}
