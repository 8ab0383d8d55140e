import { setImmediate as nextTurn } from 'node:timers/promises';
import { apiErrors } from '../../../api-error.js';
import type { Change } from '../../../engine/ports/queues.js';
import { charactersOf } from '../../../engine/queue/batch-text.js';
import { limits } from '../../../limits.js';
import { decodeChange, encodeChange, type TurnRecord } from '../codecs/batch-codec.js';
import type { Tables } from '../tables.js';
import { CoalescedTask } from './coalesced-task.js';
import { type Committing, written } from './commit.js';
import { putInChunks } from './put-in-chunks.js';

/** The changes of all queues in one turn of the event loop, in their order. The engine may change a batch further before it is written. */
type Turn = [queue: string, change: Change][];

/**
 * The log of the batches of queues. All changes of a turn are one record, because the cost of a commit grows with the number of
 * pages that it writes. A second later a checkpoint writes them by queue, to `batches`; until then they are also in memory.
 * Only the serving thread writes it.
 */
export class Journal {
  /** The current turn. */
  #turn: { changes: Turn; saved: Promise<void> } | null = null;
  /** Settles with the last turn that began. */
  #saving: Promise<unknown> = Promise.resolve();
  /** Changes that no checkpoint has written yet, by queue, oldest first. */
  readonly #pending = new Map<string, Change[]>();
  /** Characters from clients in these changes. */
  #characters = 0;
  /** Numbers of turns: the last one of the last checkpoint, the last one on disk, and the next one. */
  #checkpointed = 0;
  #last = 0;
  #next: number | null = null;
  /** The last failure. Each is a new object, so that comparing them shows whether there was another. */
  #failure: { error: unknown } | null = null;
  readonly #checkpoints = new CoalescedTask(() => this.#checkpoint());

  constructor(readonly store: Pick<Tables, 'meta' | 'journalTurns' | 'batches'> & Omit<Committing, 'root'>) {}

  /** Adds a change to the current turn. Resolves when it and all changes before it are on disk; rejects with a 503 when one of them failed. */
  write(queue: string, change: Change): Promise<void> {
    this.store.diskSpace.assert();
    if (this.#last - this.#checkpointed >= limits.pendingJournalTurns)
      throw apiErrors.storeFailed(new Error('the journal cannot be checkpointed'));
    if (this.#characters >= limits.pendingJournalCharacters)
      throw apiErrors.overloaded('memory', 'too much text of batches waits for a checkpoint', limits.retryAfterSeconds);
    const turn = (this.#turn ??= this.#begin());
    turn.changes.push([queue, change]);
    return turn.saved;
  }

  /** The number of turns that no checkpoint has written yet. */
  get turns(): number {
    return this.#last - this.#checkpointed;
  }

  /** Returns the changes of a queue since its last checkpoint, oldest first. `batches` may have some of them as well. */
  pendingOf(queue: string): readonly Change[] {
    return this.#pending.get(queue) ?? [];
  }

  /** Resolves when `batches` has all changes that were written before. */
  async checkpoint(): Promise<void> {
    await this.#saving;
    await (this.#pending.size === 0 ? this.#checkpoints.last : this.#checkpoints.run());
  }

  /** Writes a last checkpoint. The next start recovers what is written after it. */
  async close(): Promise<void> {
    this.#checkpoints.stop();
    await this.checkpoint();
  }

  /** Reads the turns that an earlier process left, and schedules a checkpoint of them. */
  recover(): void {
    this.read();
    this.#next = this.#last + 1;
    if (this.#pending.size > 0) this.#checkpoints.runWithin(limits.checkpointMilliseconds);
  }

  /** Reads the turns that no checkpoint has written, and leaves them in place. */
  read(): void {
    const { meta, journalTurns } = this.store;
    this.#pending.clear();
    this.#characters = 0;
    this.#checkpointed = meta.get('checkpoint') ?? 0;
    this.#last = this.#checkpointed;
    for (const { key, value } of journalTurns.getRange({ start: this.#checkpointed + 1 })) {
      this.#keep(value.map(([queue, change]) => [queue, decodeChange(change)]));
      this.#last = key;
    }
  }

  #begin() {
    const changes: Turn = [];
    const saved = this.#save(changes);
    // The callers of write() handle the failure.
    this.#saving = saved.catch(() => {});
    return { changes, saved };
  }

  async #save(changes: Turn): Promise<void> {
    const lastFailure = this.#failure;
    await nextTurn();
    this.#turn = null;
    if (this.#next === null) this.recover();
    const number = this.#next!++;
    const begun = performance.now();
    try {
      const record: TurnRecord = changes.map(([queue, change]) => [queue, encodeChange(change)]);
      await written(this.store.journalTurns.put(number, record));
      this.store.failure.assert();
      this.store.committed((performance.now() - begun) / 1000);
    } catch (error) {
      this.#failure = { error };
      // After a failed flush the refused turn may still be on disk.
      this.store.journalTurns.put(number, []).catch(() => {});
      throw error;
    }
    this.#last = number;
    this.#keep(changes);
    this.#checkpoints.runWithin(limits.checkpointMilliseconds);
    if (this.#characters >= limits.pendingJournalCharacters / 8) this.#checkpoints.run().catch(() => {});
    // These changes depend on changes that failed meanwhile, so their callers must retry, too.
    if (this.#failure !== lastFailure) throw this.#failure!.error;
  }

  #keep(changes: Turn): void {
    for (const [queue, change] of changes) {
      this.#characters += charactersIn(change);
      const pending = this.#pending.get(queue);
      if (pending) pending.push(change);
      else this.#pending.set(queue, [change]);
    }
  }

  async #checkpoint(): Promise<void> {
    const { meta, journalTurns, batches, diskSpace } = this.store;
    const last = this.#last;
    const pending = [...this.#pending].map(([queue, changes]) => ({ queue, changes: changes.slice() }));
    try {
      diskSpace.assert();
      await putInChunks(pending, ({ queue, changes }) => batches.put([queue, last], changes.map(encodeChange)));
      // Written before the turns are removed: the next start must skip turns that a kill leaves behind.
      await meta.put('checkpoint', last);
      await putInChunks([...journalTurns.getKeys({ end: last + 1 })], number => journalTurns.remove(number));
    } catch (error) {
      this.#checkpoints.runWithin(limits.checkpointMilliseconds);
      throw error;
    }
    this.#checkpointed = last;
    for (const { queue, changes } of pending) {
      const since = this.#pending.get(queue)!.slice(changes.length);
      if (since.length > 0) this.#pending.set(queue, since);
      else this.#pending.delete(queue);
    }
    // Counted again in full, because the text of a batch may have grown since it was added.
    this.#characters = 0;
    for (const changes of this.#pending.values()) for (const change of changes) this.#characters += charactersIn(change);
  }
}

function charactersIn(change: Change): number {
  return typeof change === 'number' ? 0 : charactersOf(change);
}
