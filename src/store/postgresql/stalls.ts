import { limits } from '../../limits.js';

/** Notices when this process stood still: somebody stopped it, or its virtual machine. */
export class Stalls {
  #seenAt = performance.now();
  #endedAt = -Infinity;
  readonly #timer = setInterval(() => this.#look(), limits.stallMilliseconds / 4).unref();

  /** Whether it stood still a short time ago: what it reads now may have been sent long before. */
  isRecent(): boolean {
    this.#look();
    return performance.now() - this.#endedAt < limits.databaseWaitMilliseconds;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#seenAt >= limits.stallMilliseconds) this.#endedAt = now;
    this.#seenAt = now;
  }
}
