import { setTimeout as sleep } from 'node:timers/promises';
import { apiErrors } from '../api-error.js';
import type { CompletenessSubject } from '../engine/completeness/assigned.js';
import { limits } from '../limits.js';
import { type Asker, assertRoom, lineOf } from './asker.js';
import { FairSemaphore } from './fair-semaphore.js';
import type { WorkerPool } from './pool.js';
import type { CompletenessJson } from './reads.js';

/** A comparison that has not begun, so it will see every run recorded until now. */
interface Waiting {
  result: Promise<CompletenessJson>;
  /** For each request that waits for it: whether its client has left. */
  callers: (() => boolean)[];
}

/**
 * Compares builds one at a time, so that where there are several worker threads the others stay free for nodes. Projects take turns. Requests for the same build share
 * a comparison, and those that wait share a timer.
 */
export class CompletenessChecker {
  readonly #closing = new AbortController();
  readonly #waiting = new Map<string, Waiting>();
  readonly #turns = new FairSemaphore(1);
  #tick: Promise<void> | null = null;

  constructor(readonly workers: Pick<WorkerPool, 'completeness'>) {}

  /** Whether the server is about to stop, so that no request may wait. */
  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Rejects with the error of `assertRoom` when too many comparisons of the project wait. A comparison does not begin when all its clients have left. */
  async compare(subject: CompletenessSubject, asker: Asker): Promise<CompletenessJson> {
    const { hasLeft } = asker;
    const line = lineOf(asker);
    const key = JSON.stringify([line, subject]);
    const waiting = this.#waiting.get(key);
    if (waiting) {
      waiting.callers.push(hasLeft);
      return waiting.result;
    }
    assertRoom(asker, this.#turns.waitingOf(line), limits.waitingComparisonsPerProject, 'too many comparisons of builds at once');
    const callers = [hasLeft];
    const result = this.#turns.run(line, async () => {
      // Its turn may come immediately, but it must be in the map below first.
      await Promise.resolve();
      this.#waiting.delete(key);
      const haveLeft = () => callers.every(left => left());
      if (haveLeft()) throw apiErrors.clientLeft();
      return this.workers.completeness(subject, haveLeft);
    });
    this.#waiting.set(key, { result, callers });
    return result;
  }

  /** Resolves after the poll interval, or immediately when the server is about to stop. */
  tick(): Promise<void> {
    return (this.#tick ??= sleep(limits.completenessPollMilliseconds, undefined, { signal: this.#closing.signal })
      .catch(() => {})
      .then(() => void (this.#tick = null)));
  }
}
