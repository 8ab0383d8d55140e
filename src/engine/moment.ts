/** A moment in the history of a build. */
export interface Moment {
  /** How many runs of the build were recorded before it; null: an older store kept only the time. */
  runs_before: number | null;
  /** Milliseconds since 1970. */
  at: number;
}

/** When a split or queue was made. */
export function beginningOf({ created_at: at, runs_before }: { created_at: number; runs_before?: number }): Moment {
  return { runs_before: runs_before ?? null, at };
}

/** The place of a recorded run in that history. */
export interface RecordingOrder {
  /** Its number among the runs of its build, from 1, never reused; 0: an older store recorded it. */
  ordinal: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Whether a run was recorded after a moment. A clock can be set back; the order of recording cannot. */
export function isAfter({ ordinal, at }: RecordingOrder, moment: Moment): boolean {
  return moment.runs_before === null ? at >= moment.at : ordinal > moment.runs_before;
}

/** Whether a moment came later than another one of the same build. */
export function isLater(moment: Moment, other: Moment): boolean {
  if (moment.runs_before !== null && other.runs_before !== null && moment.runs_before !== other.runs_before)
    return moment.runs_before > other.runs_before;
  return moment.at > other.at;
}
