import { clock, duration, exactDuration, exactTime, isOfLastDay, when } from '../text/format.js';

/** Seconds as people read them, and exactly on hover. */
export function Duration({ seconds }: { seconds: number | null | undefined }) {
  return (
    <span class="number" title={exactDuration(seconds)}>
      {duration(seconds)}
    </span>
  );
}

/** When something was: relative under a day, then its day, with the time of day in a wide table if that is wanted; exactly on hover. */
export function When({ time, hasClock = false }: { time: string; hasClock?: boolean }) {
  const now = Date.now();
  return (
    <time class="number" dateTime={time} title={exactTime(time)}>
      {when(time, now)}
      {hasClock && !isOfLastDay(time, now) && <span class="clock"> {clock(time)}</span>}
    </time>
  );
}
