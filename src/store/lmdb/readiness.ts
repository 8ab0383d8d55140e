import { limits } from '../../limits.js';
import { commit } from './commit.js';
import type { Store } from './open.js';

/**
 * Tests whether writes reach the disk in time. Anybody may ask, so all callers share one probe write, and reuse its outcome
 * for `limits.readyFreshMilliseconds` after it began. While a write hangs, no other one begins.
 */
export class Readiness {
  #outcome: Promise<void> = Promise.resolve();
  #isWriting = false;
  #freshUntil = -Infinity;

  /**
   * @param now milliseconds since 1970
   * @param uptime milliseconds on a clock that is never set
   */
  constructor(
    readonly store: Store,
    readonly now: () => number,
    readonly uptime: () => number,
  ) {}

  /** Rejects when writes are refused, fail, or take longer than `limits.readySeconds`. */
  async assert(): Promise<void> {
    // This check costs nothing and needs no write.
    this.store.room.assert();
    this.store.failure.assert();
    if (!this.#isWriting && this.uptime() >= this.#freshUntil) this.#begin();
    await this.#outcome;
  }

  #begin(): void {
    this.#isWriting = true;
    this.#freshUntil = this.uptime() + limits.readyCacheMilliseconds;
    const write = commit(this.store, () => void this.store.meta.put('readiness', this.now())).finally(() => (this.#isWriting = false));
    this.#outcome = within(limits.readySeconds, write);
    // Each waiting caller gets the failure itself.
    this.#outcome.catch(() => {});
  }
}

function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`a write took longer than ${seconds} s`)), 1000 * seconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
