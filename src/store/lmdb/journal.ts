import { setImmediate as nextTurn } from 'node:timers/promises';
import { apiErrors } from '../../api-error.js';
import type { Batch } from '../../engine/queue/batch.js';
import { charactersOf } from '../../engine/queue/batch-text.js';
import { limits } from '../../limits.js';
import { CoalescedTask } from './coalesced-task.js';
import { written } from './commit.js';
import type { Store } from './open.js';
import { putInChunks } from './put-in-chunks.js';

/** A batch (the engine's own object: what is written of it later may say more), or the seq of one that was taken back. */
export type Change = Batch | number;

/** What queues changed in one turn of the event loop, in that order. */
export type TurnRecord = [queue: string, change: Change][];

/**
 * What queues hand out, as it happens: one record for all that changed in a turn, because a commit costs by the places that
 * it writes to. A second later, at a checkpoint, it is written by queue, under `batches`; until then memory has it, too.
 * Of the thread that serves.
 */
export class Journal {
  /** The turn that is under way, and the promise of the last one. */
  #turn: { changes: TurnRecord; saved: Promise<void> } | null = null;
  #saving: Promise<unknown> = Promise.resolve();
  /** What is on disk in sequence only, by queue, oldest first. */
  readonly #pending = new Map<string, Change[]>();
  /** Characters from clients in these turns. */
  #characters = 0;
  /** The last record of the last checkpoint, the last one on disk, and the number of the next. */
  #done = 0;
  #last = 0;
  #next: number | null = null;
  /** The last failure, an object of its own each time: compared, it tells of one in between. */
  #failure: { error: unknown } | null = null;
  readonly #checkpoints = new CoalescedTask(() => this.#checkpoint());

  constructor(readonly store: Pick<Store, 'meta' | 'journalTurns' | 'batches' | 'room' | 'failure' | 'committed'>) {}

  /** Adds a change to the turn; resolves when that and all before it are on disk, rejects with a 503 when they are not. */
  write(queue: string, change: Change): Promise<void> {
    this.store.room.assert();
    if (this.#last - this.#done >= limits.pendingJournalTurns) throw apiErrors.storeFailed(new Error('the journal cannot be checkpointed'));
    if (this.#characters >= limits.pendingJournalCharacters)
      throw apiErrors.overloaded('memory', 'too much text about batches at once', limits.retryAfterSeconds);
    const turn = (this.#turn ??= this.#begin());
    turn.changes.push([queue, change]);
    return turn.saved;
  }

  /** How many turns wait for a checkpoint. */
  get turns(): number {
    return this.#last - this.#done;
  }

  /** What of a queue came after its last checkpoint, oldest first. Some of it may be under `batches` as well. */
  pendingOf(queue: string): readonly Change[] {
    return this.#pending.get(queue) ?? [];
  }

  /** Resolves when all that was written before is under `batches`. */
  async checkpoint(): Promise<void> {
    await this.#saving;
    await (this.#pending.size === 0 ? this.#checkpoints.last : this.#checkpoints.again());
  }

  /** A last checkpoint. What is written behind it is found at the next start. */
  async close(): Promise<void> {
    this.#checkpoints.end();
    await this.checkpoint();
  }

  /** Finds what a process before this one left, and writes it by queue. */
  recover(): void {
    this.read();
    this.#next = this.#last + 1;
    if (this.#pending.size > 0) this.#checkpoints.soon(limits.checkpointMilliseconds);
  }

  /** Finds what is in sequence only, and leaves it there. */
  read(): void {
    const { meta, journalTurns } = this.store;
    this.#pending.clear();
    this.#characters = 0;
    this.#done = meta.get('checkpoint') ?? 0;
    this.#last = this.#done;
    for (const { key, value } of journalTurns.getRange({ start: this.#done + 1 })) {
      this.#keep(value);
      this.#last = key;
    }
  }

  #begin() {
    const changes: TurnRecord = [];
    const saved = this.#save(changes);
    // Whoever made the changes is told.
    this.#saving = saved.catch(() => {});
    return { changes, saved };
  }

  async #save(changes: TurnRecord): Promise<void> {
    const before = this.#failure;
    await nextTurn();
    this.#turn = null;
    if (this.#next === null) this.recover();
    const number = this.#next!++;
    const begun = performance.now();
    try {
      await written(this.store.journalTurns.put(number, changes));
      this.store.failure.assert();
      this.store.committed((performance.now() - begun) / 1000);
    } catch (error) {
      this.#failure = { error };
      // A failed flush may leave on disk what was refused.
      this.store.journalTurns.put(number, []).catch(() => {});
      throw error;
    }
    this.#last = number;
    this.#keep(changes);
    this.#checkpoints.soon(limits.checkpointMilliseconds);
    if (this.#characters >= limits.pendingJournalCharacters / 8) this.#checkpoints.again().catch(() => {});
    // Decided upon what failed meanwhile: whoever asked is told to come again.
    if (this.#failure !== before) throw this.#failure!.error;
  }

  #keep(changes: TurnRecord): void {
    for (const [queue, change] of changes) {
      this.#characters += charactersIn(change);
      const pending = this.#pending.get(queue);
      if (pending) pending.push(change);
      else this.#pending.set(queue, [change]);
    }
  }

  async #checkpoint(): Promise<void> {
    const { meta, journalTurns, batches, room } = this.store;
    const last = this.#last;
    const all = [...this.#pending].map(([queue, changes]) => ({ queue, changes: changes.slice() }));
    try {
      room.assert();
      await putInChunks(all, ({ queue, changes }) => batches.put([queue, last], changes));
      // Before any is removed: turns that a kill leaves behind are known to be done with.
      await meta.put('checkpoint', last);
      await putInChunks([...journalTurns.getKeys({ end: last + 1 })], number => journalTurns.remove(number));
    } catch (error) {
      this.#checkpoints.soon(limits.checkpointMilliseconds);
      throw error;
    }
    this.#done = last;
    for (const { queue, changes } of all) {
      const since = this.#pending.get(queue)!.slice(changes.length);
      if (since.length > 0) this.#pending.set(queue, since);
      else this.#pending.delete(queue);
    }
    // Counted anew: the text of a batch may have grown since it was written.
    this.#characters = 0;
    for (const changes of this.#pending.values()) for (const change of changes) this.#characters += charactersIn(change);
  }
}

function charactersIn(change: Change): number {
  return typeof change === 'number' ? 0 : charactersOf(change);
}
