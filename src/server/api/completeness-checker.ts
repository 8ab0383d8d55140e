import { setTimeout as sleep } from 'node:timers/promises';
import type { CompletenessSubject } from '../engine/completeness/assigned.js';
import type { Asker, JobRunner } from './job-runner.js';
import type { CompletenessJson } from './reads.js';

/** Interval at which a build is checked while a client waits for it to become complete. */
const COMPLETENESS_POLL_MILLISECONDS = 500;

/** A comparison that has not begun, so it will see every run recorded until now. */
interface Waiting {
  result: Promise<CompletenessJson>;
  /** For each request that waits for it: whether its client has left. */
  callers: (() => boolean)[];
}

/** Compares builds. Requests for the same build share a comparison, and those that wait share a timer. */
export class CompletenessChecker {
  readonly #closing = new AbortController();
  readonly #waiting = new Map<string, Waiting>();
  #tick: Promise<void> | null = null;

  constructor(readonly jobs: Pick<JobRunner, 'read'>) {}

  /** True once the server is about to stop, so that no request may wait. */
  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
  }

  /** A comparison does not begin when all its clients have left. Rejects when too many of the project wait. */
  compare(subject: CompletenessSubject, asker: Asker): Promise<CompletenessJson> {
    const key = JSON.stringify([asker.isPage, subject]);
    const waiting = this.#waiting.get(key);
    if (waiting) {
      waiting.callers.push(asker.hasLeft);
      return waiting.result;
    }
    const callers = [asker.hasLeft];
    const all: Asker = { ...asker, hasLeft: () => callers.every(hasLeft => hasLeft()) };
    const isOver = () => {
      if (this.#waiting.get(key)?.callers === callers) this.#waiting.delete(key);
    };
    const result = this.jobs.read('completeness', subject, all, { onTurn: isOver }).finally(isOver);
    this.#waiting.set(key, { result, callers });
    return result;
  }

  /** Resolves after the poll interval, or immediately when the server is about to stop. */
  tick(): Promise<void> {
    return (this.#tick ??= sleep(COMPLETENESS_POLL_MILLISECONDS, undefined, { signal: this.#closing.signal })
      .catch(() => {})
      .then(() => void (this.#tick = null)));
  }
}
