export const DAY_MILLISECONDS = 86_400_000;

/** ISO 8601 in UTC with milliseconds; times that it cannot express become the first or the last that it can. */
export function timestamp(millis: number): string {
  return new Date(Math.min(LAST_MILLIS, Math.max(0, millis))).toISOString();
}

/** A day since 1970, UTC, as 2026-11-22. */
export function dateOf(day: number): string {
  return timestamp(day * DAY_MILLISECONDS).slice(0, 10);
}

/** The end of the year 9999. */
const LAST_MILLIS = 253_402_300_799_999;
