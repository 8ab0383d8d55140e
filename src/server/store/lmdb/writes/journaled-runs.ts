import { LRUCache } from 'lru-cache';
import { sharedTurn } from '../../shared-turn.js';
import { hasRun } from '../builds.js';
import { DecodedRecords } from '../decoded-records.js';
import type { ProjectRecord } from '../records.js';
import type { Tables } from '../tables.js';
import { applyTimes } from './apply-times.js';
import { CoalescedTask } from './coalesced-task.js';
import { written } from './commit.js';
import { type PutRun, putRuns, type RunToPut } from './put-runs.js';
import type { TimingWriteBuffer } from './timing-write-buffer.js';

/** Recorded runs are put into the tables after this time. */
const PUT_RUNS_MILLISECONDS = 50;
/** When this many runs wait, they are put at once. The runs of 32 new builds take the serving thread five milliseconds. */
const WAITING_RUNS = 32;
/** Builds of which the nodes that recorded are cached. More than the journal takes within `PUT_RUNS_MILLISECONDS`. */
const BEGUN_BUILDS = 10_000;

/**
 * Recorded runs that are in the journal and not yet in the tables. The next write transaction puts them, whatever else it writes. If no
 * transaction begins within `PUT_RUNS_MILLISECONDS`, one is made for them. A read of records that runs change settles the runs first.
 */
export class JournaledRuns {
  #waiting: RunToPut[] = [];
  /** Nodes with a run that reads may not see yet: the digest of the build, a blank, the index. */
  readonly #nodes = new Set<string>();
  /** The nodes that recorded in builds that began while this process runs, by the digest of the build: no other node has a run. */
  readonly #begun = new LRUCache<string, Set<number>>({ max: BEGUN_BUILDS });
  /** Numbers of runs (RunToPut.entry): the last that was added, the last that was put, the last that reads see with its times. */
  #added = 0;
  #put = 0;
  #settled = 0;
  /** The number of the last run that was added, by project. */
  readonly #addedTo = new Map<number, number>();
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

  /** Reports whether the node of a run may have another one in its build, in the tables or waiting. */
  mayHaveRun(run: RunToPut): boolean {
    const { node_index } = run.key;
    const begun = this.#nodesOf(run);
    if (begun) return begun.has(node_index);
    if (this.#nodes.has(nodeOf(run))) return true;
    const build = this.tables.buildNumbers.get(run.build);
    return build !== undefined && hasRun(this.tables, build, node_index);
  }

  /** Adds a run that is being written to the journal, of a node that may have no other. */
  add(run: RunToPut): void {
    this.#nodesOf(run)?.add(run.key.node_index);
    this.#nodes.add(nodeOf(run));
    this.#added = run.entry;
    this.#addedTo.set(run.project, run.entry);
    this.#waiting.push(run);
    if (this.#waiting.length === WAITING_RUNS) this.#settling.run().catch(() => {});
    else this.#settling.runWithin(PUT_RUNS_MILLISECONDS);
  }

  /** Notes that a transaction puts another run of a node. Returns a function to call when it has ended. */
  holdNode(run: RunToPut): () => void {
    this.#nodesOf(run)?.add(run.key.node_index);
    const node = nodeOf(run);
    if (this.#nodes.has(node)) return () => {};
    this.#nodes.add(node);
    return () => this.#nodes.delete(node);
  }

  /** The nodes that recorded in the build of a run; undefined: the build began before this process, so the tables tell. */
  #nodesOf({ build }: RunToPut): Set<number> | undefined {
    let nodes = this.#begun.get(build);
    if (!nodes && this.tables.buildNumbers.get(build) === undefined) this.#begun.set(build, (nodes = new Set()));
    return nodes;
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
    const put = putRuns(this.tables, waiting);
    const { entry } = waiting.at(-1)!;
    this.#put = entry;
    void this.tables.meta.put('recorded', entry);
    this.#applying = this.#applying.then(() => this.#applyTimes(waiting, put, entry));
  }

  /** Resolves when the tables have all runs that were added, and their times count; null: that is so now. */
  settle(): Promise<void> | null {
    return this.#settled === this.#added ? null : this.#settling.run();
  }

  /** Reports whether the tables have all runs of a project that were added, and their times count. */
  hasSettled(project: number): boolean {
    return (this.#addedTo.get(project) ?? 0) <= this.#settled;
  }

  /** Settles all runs, and puts none later by itself. */
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

  async #applyTimes(waiting: readonly RunToPut[], put: readonly PutRun[], entry: number): Promise<void> {
    // The default branch of a project follows its first build.
    await this.tables.root.committed;
    const parts = { projects: this.#projects, timingBuffer: this.timingBuffer };
    await this.timingBuffer.undivided(async () => {
      let isApplied = true;
      for (const [i, { run }] of waiting.entries()) {
        const pending = put[i]!;
        // The buffer had room when these paths were interned. If this fails, the next start repeats it, because `pendingRuns` has the run.
        if (typeof pending === 'object') await applyTimes(parts, run, pending, sharedTurn).catch(() => (isApplied = false));
      }
      if (isApplied) this.timingBuffer.markApplied(entry);
    });
    for (const run of waiting) this.#nodes.delete(nodeOf(run));
  }
}

const nodeOf = ({ build, key: { node_index } }: RunToPut) => `${build} ${node_index}`;
