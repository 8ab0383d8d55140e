/** A moment in the history of a build. */
export interface Moment {
  /** Runs of the build that were recorded before it; null: a record of an older store, of which only the time is known. */
  runs_before: number | null;
  /** Milliseconds since 1970. */
  at: number;
}

/** When a split or queue was made. */
export function beginningOf({ created_at: at, runs_before }: { created_at: number; runs_before?: number }): Moment {
  return { runs_before: runs_before ?? null, at };
}

/** A recorded run, as far as order goes. */
export interface Recorded {
  /** Which run of its build it is, counted from 1 and never again; 0: an older store recorded it. */
  ordinal: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Whether a run was recorded after a moment. Clocks are set back; the order of recording is not. */
export function isAfter({ ordinal, at }: Recorded, moment: Moment): boolean {
  return moment.runs_before === null ? at >= moment.at : ordinal > moment.runs_before;
}

/** Whether a moment came later than another one of the same build. */
export function isLater(moment: Moment, other: Moment): boolean {
  if (moment.runs_before !== null && other.runs_before !== null && moment.runs_before !== other.runs_before) return moment.runs_before > other.runs_before;
  return moment.at > other.at;
}
