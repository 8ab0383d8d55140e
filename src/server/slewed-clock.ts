/** A step of the system clock up to this size takes effect immediately. */
const MAX_STEP_MILLISECONDS = 3_600_000;
/** A larger step is approached at this multiple of elapsed time. */
const SLEW_RATE = 24;

/**
 * The system time, protected against large forward steps: if the system clock is far ahead of the elapsed time, this clock
 * approaches it slowly. A wrong system clock, or the restore of an old backup, therefore does not delete records for their age.
 */
export class SlewedClock {
  #askedAt: number;

  /**
   * @param now milliseconds since 1970
   * @param uptime monotonic milliseconds since any moment
   * @param reached the time that this clock had reached, perhaps in an earlier process, in milliseconds since 1970
   */
  constructor(
    readonly now: () => number,
    readonly uptime: () => number,
    public reached = now(),
  ) {
    this.#askedAt = uptime();
  }

  /** Returns milliseconds since 1970. */
  time(): number {
    const now = this.now();
    const uptime = this.uptime();
    const slewed = this.reached + SLEW_RATE * (uptime - this.#askedAt);
    this.#askedAt = uptime;
    this.reached = Math.max(this.reached, Math.min(now, slewed));
    return Math.min(now, slewed + MAX_STEP_MILLISECONDS);
  }
}
