/** A clock may be set while the program runs: by so much it is followed. */
const FOLLOWED_MILLISECONDS = 3_600_000;

/**
 * The time as the clock says it, but no later than the time that has passed since the start: what is deleted for its age is not
 * deleted because a clock jumped ahead.
 */
export class SteadyClock {
  readonly #start: number;
  readonly #passed: () => number;

  /**
   * @param now milliseconds since 1970
   * @param uptime milliseconds since whenever, never set
   */
  constructor(
    readonly now: () => number,
    uptime: () => number,
  ) {
    this.#start = now();
    const from = uptime();
    this.#passed = () => uptime() - from;
  }

  /** Milliseconds since 1970. */
  time(): number {
    return Math.min(this.now(), this.#start + this.#passed() + FOLLOWED_MILLISECONDS);
  }
}
