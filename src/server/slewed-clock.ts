/** A clock may be set while the program runs: by so much it is followed at once. */
const FOLLOWED_MILLISECONDS = 3_600_000;
/** Where it is further ahead, it is followed so much faster than time passes. */
const FOLLOWING = 24;

/**
 * The time as the clock says it, but where that is far ahead of the time that passed since it was known, it is followed slowly: what is
 * deleted for its age is not deleted at once because a clock was set wrong, or because a store is an old backup.
 */
export class SlewedClock {
  #askedAt: number;

  /**
   * @param now milliseconds since 1970
   * @param uptime milliseconds since whenever, never set
   * @param known milliseconds since 1970 that were reached, maybe by an earlier process
   */
  constructor(
    readonly now: () => number,
    readonly uptime: () => number,
    public known = now(),
  ) {
    this.#askedAt = uptime();
  }

  /** Milliseconds since 1970. */
  time(): number {
    const now = this.now();
    const uptime = this.uptime();
    const followed = this.known + FOLLOWING * (uptime - this.#askedAt);
    this.#askedAt = uptime;
    this.known = Math.max(this.known, Math.min(now, followed));
    return Math.min(now, followed + FOLLOWED_MILLISECONDS);
  }
}
