import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../limits.js';
import { written } from '../store/commit.js';
import type { CompletenessSubject } from './completeness.js';
import type { JobPool } from './pool.js';
import type { ReadAnswer } from './task.js';

/**
 * Compares builds for all who ask, one build after the other, so that the packing threads stay free for nodes. Many who ask for
 * one build share a comparison, and those who wait share a clock.
 */
export class Comparisons {
  readonly #closing = new AbortController();
  /** Those that have not begun: they will see all that is recorded by now. */
  readonly #asked = new Map<string, Promise<ReadAnswer>>();
  #last: Promise<unknown> = Promise.resolve();
  #tick: Promise<void> | null = null;

  constructor(readonly jobs: JobPool) {}

  /** Whether the server is about to stop: nobody waits any more. */
  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }

  compare(subject: CompletenessSubject): Promise<ReadAnswer> {
    const { wait: _, ...query } = subject.query;
    const key = JSON.stringify([subject.project, query]);
    const asked = this.#asked.get(key);
    if (asked) return asked;
    const compared = this.#last
      .catch(() => {})
      .then(async () => {
        this.#asked.delete(key);
        // A thread sees what is on disk.
        await written(this.jobs.store.journal.checkpoint());
        return this.jobs.completeness(subject);
      });
    this.#asked.set(key, compared);
    this.#last = compared;
    return compared;
  }

  /** Resolves after a moment, at once when the server is about to stop. */
  tick(): Promise<void> {
    return (this.#tick ??= sleep(limits.completenessMilliseconds, undefined, { signal: this.#closing.signal })
      .catch(() => {})
      .then(() => void (this.#tick = null)));
  }
}
