import { setTimeout as sleep } from 'node:timers/promises';
import { apiErrors } from '../api-error.js';
import { limits } from '../limits.js';
import type { CompletenessSubject } from './completeness.js';
import { FairSemaphore } from './fair-semaphore.js';
import type { JobPool } from './pool.js';
import type { ReadAnswer } from './task.js';

/** A comparison that has not begun, so it will see everything that is recorded by now. */
interface Asked {
  answer: Promise<ReadAnswer>;
  /** For each request that waits for it: whether its client has left. */
  askers: (() => boolean)[];
}

/**
 * Compares builds one after the other, so that the packing threads stay free for nodes. Projects take turns. Requests for the
 * same build share a comparison, and those that wait share a clock.
 */
export class CompletenessChecker {
  readonly #closing = new AbortController();
  readonly #asked = new Map<string, Asked>();
  readonly #turns = new FairSemaphore(1);
  #tick: Promise<void> | null = null;

  constructor(readonly jobs: Pick<JobPool, 'completeness'>) {}

  /** Whether the server is about to stop: nobody waits any more. */
  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Rejects with a 503 when too many comparisons of the project wait. A comparison does not begin when all its clients have left. */
  compare(subject: CompletenessSubject, hasLeft: () => boolean): Promise<ReadAnswer> {
    const { wait: _, ...query } = subject.query;
    const key = JSON.stringify([subject.project, query]);
    const asked = this.#asked.get(key);
    if (asked) {
      asked.askers.push(hasLeft);
      return asked.answer;
    }
    if (this.#turns.waitingOf(subject.project) >= limits.waitingComparisonsPerProject) {
      return Promise.reject(apiErrors.overloaded('jobs', 'too many comparisons of builds at once', limits.retryAfterSeconds));
    }
    const askers = [hasLeft];
    const answer = this.#turns.run(subject.project, async () => {
      // Its turn may come at once, but not before it is noted below.
      await Promise.resolve();
      this.#asked.delete(key);
      const haveLeft = () => askers.every(left => left());
      if (haveLeft()) throw apiErrors.clientLeft();
      return this.jobs.completeness(subject, haveLeft);
    });
    this.#asked.set(key, { answer, askers });
    return answer;
  }

  /** Resolves after a moment, at once when the server is about to stop. */
  tick(): Promise<void> {
    return (this.#tick ??= sleep(limits.completenessPollMilliseconds, undefined, { signal: this.#closing.signal })
      .catch(() => {})
      .then(() => void (this.#tick = null)));
  }
}
