import type { Maintenance } from '../engine/ports/maintenance.js';

/** Time that /readyz waits for its test write. */
export const READY_SECONDS = 2;
/** Time after its start during which the result of a test write is reused. */
export const READY_CACHE_MILLISECONDS = 1000;

/**
 * Tests whether writes reach the disk in time. Anyone may call it, so all callers share one probe write, and reuse its outcome
 * for `READY_CACHE_MILLISECONDS` after it began. While a write hangs, no other write begins.
 */
export class Readiness {
  #outcome: Promise<void> = Promise.resolve();
  #isWriting = false;
  #freshUntil = -Infinity;

  /**
   * @param now milliseconds since 1970
   * @param uptime milliseconds on a monotonic clock
   */
  constructor(
    readonly maintenance: Pick<Maintenance, 'assertWritable' | 'probe'>,
    readonly now: () => number,
    readonly uptime: () => number,
  ) {}

  /** Rejects when writes are refused, fail, or take longer than `READY_SECONDS`. */
  async assert(): Promise<void> {
    // This check costs nothing and needs no write.
    this.maintenance.assertWritable();
    if (!this.#isWriting && this.uptime() >= this.#freshUntil) this.#begin();
    await this.#outcome;
  }

  #begin(): void {
    this.#isWriting = true;
    this.#freshUntil = this.uptime() + READY_CACHE_MILLISECONDS;
    const write = this.maintenance.probe(this.now()).finally(() => (this.#isWriting = false));
    this.#outcome = within(READY_SECONDS, write);
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
