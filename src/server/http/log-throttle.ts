/** Interval between log lines about the same event, where it can happen with every request or connection. */
const LOG_THROTTLE_MILLISECONDS = 60_000;

/** Limits how often an event is logged that can happen with every request: to once a minute. */
export class LogThrottle {
  #loggedAt = -Infinity;
  #times = 0;

  /** Counts the event. Returns how often it happened since it was last logged, or null if it must not be logged now. */
  hit(): number | null {
    this.#times += 1;
    const now = performance.now();
    if (now - this.#loggedAt < LOG_THROTTLE_MILLISECONDS) return null;
    const times = this.#times;
    this.#loggedAt = now;
    this.#times = 0;
    return times;
  }
}
