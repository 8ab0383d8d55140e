import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Millis } from '../../../engine/ports/store.js';
import { limits } from '../../../limits.js';
import { DecodedRecords } from '../decoded-records.js';
import type { ProjectRecord } from '../records.js';
import type { Tables } from '../tables.js';
import { applyTimes } from './apply-times.js';
import { CoalescedTask } from './coalesced-task.js';
import { written } from './commit.js';
import { mayHaveRun, type NewSubset, type PutSubset, putSubsets } from './put-subsets.js';
import type { TimingWriteBuffer } from './timing-write-buffer.js';

/**
 * Recorded runs that are in the journal and not yet in the tables. The next write transaction puts them, whatever else it does. If there is
 * none within `limits.putRunsMilliseconds`, one is made for them. A read of what runs change settles them first.
 */
export class JournaledRuns {
  #waiting: NewSubset[] = [];
  /** By node, the entry of its last run that the times may lack, or the tables as others read them. */
  readonly #unsettled = new Map<string, number>();
  /** The entry of the last run that was put. */
  #put = 0;
  /** Settles with the application of times that began last. */
  #applying: Promise<void> = Promise.resolve();
  /** When builds were created, by number, which never changes. */
  readonly #created = new LRUCache<number, Millis>({ max: limits.buildsRecordedAtOnce });
  readonly #settling = new CoalescedTask(() => this.#settle());
  readonly #projects: DecodedRecords<ProjectRecord, number>;

  constructor(
    readonly tables: Tables,
    readonly timingBuffer: TimingWriteBuffer,
  ) {
    this.#projects = new DecodedRecords(tables.root, tables.projects);
  }

  /** Whether the node of a run may have another one in its build, in the tables or waiting. */
  mayHaveRun(run: NewSubset): boolean {
    const { buildNumbers, subsets } = this.tables;
    if (this.#unsettled.has(nodeOf(run))) return true;
    const number = buildNumbers.get(run.build);
    return number !== undefined && mayHaveRun(subsets, number, this.#createdAt(number), run.key.node_index, run.at);
  }

  /** Adds a run that is being written to the journal, of a node that may have no other. */
  add(run: NewSubset): void {
    this.#waiting.push(run);
    this.#unsettled.set(nodeOf(run), run.entry);
    if (this.#waiting.length === limits.waitingRuns) this.#settling.run().catch(() => {});
    else this.#settling.runWithin(limits.putRunsMilliseconds);
  }

  /** Notes that a transaction puts another run of a node. Returns a function to call when it has ended. */
  hold(run: NewSubset): () => void {
    const node = nodeOf(run);
    this.#unsettled.set(node, run.entry);
    return () => {
      if (this.#unsettled.get(node) === run.entry) this.#unsettled.delete(node);
    };
  }

  /** Settles with the application of the times of all runs that were put before. */
  get applied(): Promise<void> {
    return this.#applying;
  }

  /** Puts the waiting runs, within a write transaction. */
  put(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    const put = putSubsets(this.tables, waiting);
    const { entry } = waiting.at(-1)!;
    this.#put = entry;
    void this.tables.meta.put('recorded', entry);
    this.#applying = this.#applying.then(() => this.#applyTimes(waiting, put, entry));
  }

  /** Resolves when the tables have all runs that were added, and their times count; null: that is so now. */
  settle(): Promise<void> | null {
    return this.#unsettled.size === 0 ? null : this.#settling.run();
  }

  /** The same at the end: nothing is put later by itself. */
  async close(): Promise<void> {
    this.#settling.stop();
    await this.settle();
  }

  async #settle(): Promise<void> {
    let put = 0;
    // Another transaction may have put the runs and not ended yet: this one follows it. The free space does not matter, because these runs
    // were accepted, and there is space in reserve for them.
    await written(
      this.tables.root.transaction(() => {
        this.put();
        put = this.#put;
      }),
    );
    await this.#applying;
    for (const [node, entry] of this.#unsettled) if (entry <= put) this.#unsettled.delete(node);
  }

  async #applyTimes(waiting: readonly NewSubset[], put: readonly PutSubset[], entry: number): Promise<void> {
    // The default branch of a project follows its first build.
    await this.tables.root.committed;
    const parts = { projects: this.#projects, timingBuffer: this.timingBuffer };
    await this.timingBuffer.undivided(async () => {
      let isApplied = true;
      for (const [i, { bytes }] of waiting.entries()) {
        const run = put[i]!;
        // The buffer had room when these paths were interned. Where this fails, the next start repeats it, because `pendingRuns` has the run.
        if (typeof run === 'object') await applyTimes(parts, bytes, run, nextTurn).catch(() => (isApplied = false));
      }
      if (isApplied) this.timingBuffer.markApplied(entry);
    });
  }

  #createdAt(number: number): Millis {
    const known = this.#created.get(number);
    if (known !== undefined) return known;
    const { created_at } = this.tables.builds.get(number)!;
    this.#created.set(number, created_at);
    return created_at;
  }
}

const nodeOf = ({ build, key }: NewSubset) => `${build} ${key.node_index}`;
