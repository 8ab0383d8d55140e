import { limits } from '../limits.js';

/** What may happen with every request is told once a minute at most. */
export class LogThrottle {
  #toldAt = -Infinity;
  #times = 0;

  /** It happened: how often since it was told last; null: it is not to be told now. */
  hit(): number | null {
    this.#times += 1;
    const now = performance.now();
    if (now - this.#toldAt < limits.logThrottleMilliseconds) return null;
    const times = this.#times;
    this.#toldAt = now;
    this.#times = 0;
    return times;
  }
}
