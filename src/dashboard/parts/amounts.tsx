import { duration, exactDuration, exactTime, when } from '../text/format.js';

/** Seconds as people read them, and exactly on hover. */
export function Duration({ seconds }: { seconds: number | null | undefined }) {
  return (
    <span class="number" title={exactDuration(seconds)}>
      {duration(seconds)}
    </span>
  );
}

/** When something was: relative under a day, then its day, with the time of day if that is wanted; exactly on hover. */
export function When({ time, hasClock = false }: { time: string; hasClock?: boolean }) {
  return (
    <time class="number" dateTime={time} title={exactTime(time)}>
      {when(time, Date.now(), hasClock)}
    </time>
  );
}
