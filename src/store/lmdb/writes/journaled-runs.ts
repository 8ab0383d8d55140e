import { setImmediate as nextTurn } from 'node:timers/promises';
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

/** A build that records. */
interface RecordingBuild {
  /** Null: it was not in the tables when its first run here was recorded, so `nodes` has all its nodes. */
  number: number | null;
  created_at: Millis;
  /** The nodes that recorded here. */
  nodes: Set<number>;
  /** The entry of its last run that was added. */
  last: number;
  /** Transactions under way that put another run of it. */
  held: number;
}

/**
 * Recorded runs that are in the journal and not yet in the tables. The next write transaction puts them, whatever else it does. If there is
 * none within `limits.putRunsMilliseconds`, one is made for them. A read of what runs change settles them first.
 */
export class JournaledRuns {
  #waiting: NewSubset[] = [];
  /** By digest. */
  readonly #builds = new Map<string, RecordingBuild>();
  /** Entries of runs: the last that was added, the last that was put, and the last that reads see and whose times count. */
  #added = 0;
  #put = 0;
  #settled = 0;
  /** Settles with the application of times that began last. */
  #applying: Promise<void> = Promise.resolve();
  readonly #settling = new CoalescedTask(() => this.#settle());
  readonly #projects: DecodedRecords<ProjectRecord, number>;

  constructor(
    readonly tables: Tables,
    readonly timingBuffer: TimingWriteBuffer,
  ) {
    this.#projects = new DecodedRecords(tables.root, tables.projects);
  }

  /** Whether the node of a run may have another one in its build, in the tables or waiting. */
  mayHaveRun({ build: digest, key: { node_index }, at }: NewSubset): boolean {
    const { number, created_at, nodes } = this.#buildOf(digest, at);
    return nodes.has(node_index) || mayHaveRun(this.tables.subsets, number, created_at, node_index, at);
  }

  /** Adds a run that is being written to the journal, of a node that may have no other. */
  add(run: NewSubset): void {
    this.#note(run).last = run.entry;
    this.#added = run.entry;
    this.#waiting.push(run);
    if (this.#waiting.length === limits.waitingRuns) this.#settling.run().catch(() => {});
    else this.#settling.runWithin(limits.putRunsMilliseconds);
  }

  /** Notes that a transaction puts another run of a node. Returns a function to call when it has ended. */
  hold(run: NewSubset): () => void {
    const build = this.#note(run);
    build.held += 1;
    return () => void (build.held -= 1);
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

  /** Forgets the builds whose runs are all in the tables: there, some may have been deleted. */
  forgetBuilds(): void {
    for (const [digest, { last, held }] of this.#builds) if (last <= this.#settled && held === 0) this.#builds.delete(digest);
  }

  /** Resolves when the tables have all runs that were added, and their times count; null: that is so now. */
  settle(): Promise<void> | null {
    return this.#settled === this.#added ? null : this.#settling.run();
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
    this.#settled = put;
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

  #note({ build: digest, key: { node_index }, at }: NewSubset): RecordingBuild {
    const build = this.#buildOf(digest, at);
    build.nodes.add(node_index);
    return build;
  }

  #buildOf(digest: string, at: Millis): RecordingBuild {
    let build = this.#builds.get(digest);
    if (!build) {
      if (this.#builds.size >= limits.buildsRecordedAtOnce) this.forgetBuilds();
      const number = this.tables.buildNumbers.get(digest) ?? null;
      const created_at = number === null ? at : this.tables.builds.get(number)!.created_at;
      this.#builds.set(digest, (build = { number, created_at, nodes: new Set(), last: 0, held: 0 }));
    }
    return build;
  }
}
