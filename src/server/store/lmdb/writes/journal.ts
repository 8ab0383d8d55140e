import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryBounds } from '../../../engine/memory-bounds.js';
import type { Change } from '../../../engine/ports/queues.js';
import { Refusal } from '../../../engine/refusal.js';
import { decodeChange, encodeChange } from '../../codecs/queue-changes.js';
import { decodePayload, encodePayload, type QueueChange } from '../codecs/journal-record.js';
import type { Tables } from '../tables.js';
import { CoalescedTask } from './coalesced-task.js';
import { type Committing, putInChunks } from './commit.js';
import { type FoundRecord, type JournalFiles, readJournal } from './journal-files.js';
import type { JournaledRuns } from './journaled-runs.js';
import { putRuns, type RunToPut } from './put-runs.js';

/** Time until the changes in the journal are moved to the records of their queues. */
const CHECKPOINT_MILLISECONDS = 1000;

/** The id of a new journal, see journal-record.ts. 0 is none. */
const newJournalId = () => 1 + randomInt(2 ** 48 - 1);

/** The additions of the current turn of the event loop: one payload of the next record. */
interface OpenPayload {
  changes: [queue: string, change: Change][];
  runs: RunToPut[];
  saved: Promise<void>;
}

/**
 * The log of the changes of queues and of recorded runs. What a turn of the event loop adds is appended to a file at once, so that the
 * answers of the turn wait for one short write and not for a commit. A second later a checkpoint writes the changes by queue, to
 * `batches`; until then they are also in memory. Only the serving thread writes the journal.
 */
export class Journal {
  #open: OpenPayload | null = null;
  /** Settles with the last payload that was opened. */
  #saving: Promise<unknown> = Promise.resolve();
  /** Encoded changes by queue, oldest first, that no checkpoint has begun to write. */
  readonly #pending = new Map<string, Buffer[]>();
  /** The changes that a checkpoint is writing, older than the pending ones. After a failure the next checkpoint writes them again. */
  readonly #checkpointing = new Map<string, Buffer[]>();
  /** Runs that the last read found and that were not in the tables then. */
  #runsRead: RunToPut[] = [];
  /** The part of `files.written` whose changes and runs a checkpoint has put into the tables. */
  #movedBytes = 0;
  /** The number of the last record of the last checkpoint, and of the last record on disk. */
  #checkpointed = 0;
  #last = 0;
  readonly #checkpoints = new CoalescedTask(() => this.#checkpoint());

  constructor(
    readonly store: Pick<Tables, 'meta' | 'batches'> & Omit<Committing, 'runs'>,
    readonly files: JournalFiles,
    readonly runs: JournaledRuns,
  ) {}

  /** Adds a change. Resolves when it and all earlier changes are on disk; rejects with a 503 when one of them failed. */
  write(queue: string, change: Change): Promise<void> {
    const open = this.#openPayload();
    open.changes.push([queue, change]);
    return open.saved;
  }

  /** Adds the first run of a node in its build. Resolves and rejects as `write`. */
  writeRun(run: RunToPut): Promise<void> {
    const open = this.#openPayload();
    open.runs.push(run);
    this.runs.add(run);
    return open.saved;
  }

  #openPayload(): OpenPayload {
    this.store.diskSpace.assert();
    if (this.files.written - this.#movedBytes >= memoryBounds.journal)
      throw new Refusal('overloaded: too much of the journal waits for a checkpoint; try again in some seconds', 'busy');
    return (this.#open ??= this.#begin());
  }

  /** The number of records that no checkpoint has written yet. */
  get recordsWaiting(): number {
    return this.#last - this.#checkpointed;
  }

  /** Returns the changes of a queue since its last checkpoint, oldest first. `batches` may have some of them as well. */
  pendingOf(queue: string): Change[] {
    const changes = [...(this.#checkpointing.get(queue) ?? []), ...(this.#pending.get(queue) ?? [])];
    return changes.map(decodeChange);
  }

  /** Reports whether `pendingOf` returns changes. */
  hasPending(queue: string): boolean {
    return this.#checkpointing.has(queue) || this.#pending.has(queue);
  }

  /** Resolves when the tables have all that was written before. */
  async checkpoint(): Promise<void> {
    await this.#saving;
    await (this.recordsWaiting === 0 ? this.#checkpoints.last : this.#checkpoints.run());
  }

  /** Writes a last checkpoint. The next start recovers what the checkpoint could not write. */
  async close(): Promise<void> {
    this.#checkpoints.stop();
    await this.checkpoint().finally(() => this.files.close());
  }

  /** Reads the changes that an earlier process left, opens the files for more, and schedules a checkpoint. */
  recover(): void {
    const { meta } = this.store;
    const records = this.read();
    const journal = meta.get('journal') ?? newJournalId();
    this.files.open(journal, this.#last, records);
    // Noted after the files have their heads: from then on a missing file is damage.
    if (meta.get('journal') !== journal) meta.putSync('journal', journal);
    for (const run of this.#runsRead) this.runs.add(run);
    if (this.recordsWaiting > 0) this.#checkpoints.runWithin(CHECKPOINT_MILLISECONDS);
  }

  /** Reads the changes that no checkpoint has written, and leaves them in place. A server may be writing the journal. */
  read(): FoundRecord[] {
    const { root, meta } = this.store;
    const checkpointed = () => {
      root.resetReadTxn();
      return meta.get('checkpoint') ?? 0;
    };
    const journal = meta.get('journal');
    const records = journal === undefined ? [] : readJournal(this.files.folder, journal, checkpointed);
    this.#checkpointed = meta.get('checkpoint') ?? 0;
    this.#pending.clear();
    this.#last = this.#checkpointed;
    const recorded = meta.get('recorded') ?? 0;
    this.#runsRead = [];
    for (const { number, payloads } of records) {
      for (const { changes, runs } of payloads.map(decodePayload)) {
        this.#runsRead.push(...runs.filter(({ entry }) => entry > recorded));
        this.#keep(number, changes);
      }
    }
    return records;
  }

  /**
   * Writes what was read to a copy of the store that was made later. The copy may have some of it already. That does no harm: a change
   * contains its whole batch, and runs are numbered. The copy gets a journal of its own.
   */
  async complete(copy: Tables): Promise<void> {
    const { queues, batches, meta } = copy;
    const recorded = meta.get('recorded') ?? 0;
    const runs = this.#runsRead.filter(({ entry }) => entry > recorded);
    if (runs.length > 0) await copy.root.transaction(() => void putRuns(copy, runs));
    const pending = [...this.#pending].filter(([queue]) => queues.doesExist(queue));
    await putChanges(batches, this.#last, pending);
    await meta.put('checkpoint', Math.max(this.#last, meta.get('checkpoint') ?? 0));
    await meta.remove('journal');
  }

  #begin(): OpenPayload {
    const changes: OpenPayload['changes'] = [];
    const runs: RunToPut[] = [];
    const saved = this.#save(changes, runs);
    // The callers of write() and writeRun() handle the failure.
    this.#saving = saved.catch(() => {});
    return { changes, runs, saved };
  }

  async #save(changes: OpenPayload['changes'], runs: RunToPut[]): Promise<void> {
    await nextTurn();
    this.#open = null;
    if (!this.files.isOpen) this.recover();
    const begun = performance.now();
    const encoded = changes.map(([queue, change]): QueueChange => [queue, encodeChange(change)]);
    const number = await this.files.append(encodePayload({ changes: encoded, runs }));
    this.store.failure.assert();
    this.store.committed((performance.now() - begun) / 1000);
    this.#keep(number, encoded);
    this.#checkpoints.runWithin(CHECKPOINT_MILLISECONDS);
    if (this.files.written - this.#movedBytes >= memoryBounds.journal / 8) this.#checkpoints.run().catch(() => {});
  }

  #keep(number: number, changes: readonly QueueChange[]): void {
    for (const [queue, change] of changes) {
      const pending = this.#pending.get(queue);
      if (pending) pending.push(change);
      else this.#pending.set(queue, [change]);
    }
    this.#last = number;
  }

  async #checkpoint(): Promise<void> {
    const { meta, batches, diskSpace } = this.store;
    // So this checkpoint has all records of the file that is current until now.
    this.files.alternate();
    await this.#saving;
    const [last, { written }] = [this.#last, this.files];
    for (const [queue, changes] of this.#pending) this.#checkpointing.set(queue, [...(this.#checkpointing.get(queue) ?? []), ...changes]);
    this.#pending.clear();
    try {
      diskSpace.assert();
      await this.runs.settle();
      await putChanges(batches, last, this.#checkpointing);
      await meta.put('checkpoint', last);
    } catch (error) {
      this.#checkpoints.runWithin(CHECKPOINT_MILLISECONDS);
      throw error;
    }
    this.files.release(last);
    this.#checkpointed = last;
    this.#movedBytes = written;
    this.#checkpointing.clear();
  }
}

/**
 * Puts the changes of queues that one checkpoint has, a record for each queue. Resolves when they are on disk.
 *
 * @param last the number of the last record of the journal that it has
 * @param changes by queue, oldest first, encoded
 */
function putChanges(batches: Tables['batches'], last: number, changes: Iterable<[queue: string, Buffer[]]>): Promise<void> {
  return putInChunks(changes, ([queue, ofQueue]) => batches.put([queue, last], ofQueue));
}
