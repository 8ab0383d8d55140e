import type { CachedQueue } from './open-queue.js';

type KeyedQueue = [key: string, open: CachedQueue];
type OnEnd = (...queue: KeyedQueue) => void;

/** Queues whose last changes are being written. All changes of one turn of the event loop have one promise, so they end together. */
export class SavingQueues {
  #saved: Promise<void> | null = null;
  #queues: KeyedQueue[] = [];

  constructor(
    /** Called when the changes of a queue are on disk, and it has no later ones. */
    readonly onSaved: OnEnd,
    readonly onFailed: OnEnd,
  ) {}

  /** Adds a queue whose `saving` is the promise of the current turn. */
  add(key: string, open: CachedQueue): void {
    if (open.saving !== this.#saved) this.#begin(open.saving!);
    this.#queues.push([key, open]);
  }

  #begin(saved: Promise<void>): void {
    const queues: KeyedQueue[] = [];
    this.#saved = saved;
    this.#queues = queues;
    const end = () => {
      if (this.#saved === saved) this.#saved = null;
    };
    saved.then(
      () => {
        end();
        for (const [key, open] of queues) {
          if (open.saving !== saved) continue;
          open.saving = null;
          this.onSaved(key, open);
        }
      },
      () => {
        end();
        for (const [key, open] of queues) this.onFailed(key, open);
      },
    );
  }
}
