import { type Batch, type CasesByFile, isRequeued, movedFiles, type Pull } from './batch.js';

/** The interval at which empty first requests of a node are journaled. */
const EMPTY_START_MILLISECONDS = 60_000;

/** Files that a node is handed again. */
export type Replay = Pick<Batch, 'files' | 'cases'>;

/** A pull that is being answered with a batch. */
export interface Answering {
  batch: Batch;
  hasLeft: () => boolean;
}

/** Tells whether two batches are copies of one hand-out. */
export function isSameHandOut(a: Batch, b: Batch): boolean {
  return a.node_index === b.node_index && a.run === b.run && a.batch_uuid === b.batch_uuid && a.handed_at === b.handed_at;
}

/** The batches of one node of a queue. */
export class Node {
  /** Over all runs, oldest first. */
  readonly batches: Batch[] = [];
  /** Its pulls that are being answered. */
  readonly #answering: Answering[] = [];
  readonly #byUuid = new Map<string, Batch>();
  /** Runs whose last pull without a uuid got no batch. A retry of that pull gets none either. */
  readonly #emptyHanded = new Set<string>();
  /** When its last empty first request was journaled, in milliseconds since 1970. */
  #emptyStartAt = -Infinity;
  /** Batches read back from the journal that may not have reached the node. */
  #unconfirmed: Set<Batch> | null = null;

  /** The files of all its batches. */
  get files(): number[] {
    return [...new Set(this.batches.flatMap(batch => batch.files))];
  }

  get answering(): readonly Answering[] {
    return this.#answering;
  }

  /**
   * Takes over, from the same node of a queue that this one replaces, the facts that no journal has.
   * @param answering the batches that were being sent to the node
   */
  adopt(before: Node, answering: readonly Answering[], find: (batch: Batch) => Batch | null): void {
    for (const { batch, hasLeft } of answering) {
      const own = find(batch);
      if (!own) continue;
      this.#answering.push({ batch: own, hasLeft });
      // This process learns itself whether it reaches the node.
      this.confirm(own);
    }
    for (const batch of before.batches) {
      // The delivery of a batch without a uuid is in the journal, or will be noted again.
      const own = batch.delivered && batch.batch_uuid !== null ? find(batch) : null;
      if (!own) continue;
      own.delivered = true;
      this.confirm(own);
    }
    const batchesOf = (node: Node, run: string) => node.batches.filter(batch => batch.run === run).length;
    for (const run of before.#emptyHanded) if (batchesOf(this, run) === batchesOf(before, run)) this.#emptyHanded.add(run);
    this.#emptyStartAt = Math.max(this.#emptyStartAt, before.#emptyStartAt);
  }

  get isAnswering(): boolean {
    return this.#answering.length > 0;
  }

  /** Tells whether a process of the node was cancelled. */
  isCancelled(run: string): boolean {
    const last = this.batches.at(-1);
    return last?.run === run && last.cancelled_at !== undefined;
  }

  add(batch: Batch): void {
    this.batches.push(batch);
    if (batch.batch_uuid !== null) this.#byUuid.set(batch.batch_uuid, batch);
    this.#emptyHanded.delete(batch.run);
  }

  /** Removes a batch that never reached the node. */
  remove(batch: Batch): void {
    this.batches.splice(this.batches.lastIndexOf(batch), 1);
    if (batch.batch_uuid === null) this.#emptyHanded.add(batch.run);
    else this.#byUuid.delete(batch.batch_uuid);
  }

  markEmptyHanded({ run, batch_uuid }: Pick<Pull, 'run' | 'batch_uuid'>): void {
    if (batch_uuid === null) this.#emptyHanded.add(run);
  }

  /** Notes a first request that got no batch. Returns whether to journal it. */
  recordEmptyStart(now: number): boolean {
    if (now - this.#emptyStartAt < EMPTY_START_MILLISECONDS && now >= this.#emptyStartAt) return false;
    this.#emptyStartAt = now;
    return true;
  }

  /** Marks the last batch of each run as unconfirmed, when all batches were read back from the journal. */
  markUnconfirmed(): void {
    for (const batch of this.batches) {
      const isLast = this.batches.findLast(({ run }) => run === batch.run) === batch;
      if (isLast && !batch.delivered && batch.batch_uuid === null) (this.#unconfirmed ??= new Set()).add(batch);
    }
  }

  /** The batch reached the node. */
  confirm(batch: Batch): void {
    this.#unconfirmed?.delete(batch);
  }

  /** Returns the batch that already answered this request, if the client repeats it. */
  repeatedBatch(request: Pull): Batch | null {
    const { batch_uuid, run, isRetry } = request;
    if (batch_uuid !== null) return this.#byUuid.get(batch_uuid) ?? null;
    const last = this.#lastFor(request);
    if (!last) return null;
    if (this.#unconfirmed?.delete(last)) return last;
    // The client closed the connection of its last answer and repeats the request on another one.
    const answers = this.#answering.filter(({ batch }) => batch === last);
    if (answers.length > 0 && answers.every(({ hasLeft }) => hasLeft())) return last;
    return isRetry && !this.#emptyHanded.has(run) ? last : null;
  }

  /**
   * Tells whether a pull would get a batch again for the only reason that no note of its delivery has arrived: the client does not say that it
   * repeats a request.
   */
  lacksNote(request: Pull): boolean {
    if (request.batch_uuid !== null || request.isRetry || !this.#unconfirmed) return false;
    const last = this.#lastFor(request);
    return last !== null && this.#unconfirmed.has(last);
  }

  /** Returns the files that a first request gets again; null: none. */
  replay({ isFirstRequest, acknowledges, wantsLastSplit, run, notRun }: Pull): Replay | null {
    if (wantsLastSplit) return this.batches.length === 0 ? null : { files: this.files };
    const isNewRun = isFirstRequest && !this.batches.some(batch => batch.run === run);
    return acknowledges && isNewRun ? this.#unfinished(notRun) : null;
  }

  /** Notes that an answer with the batch is being sent. Returns the batch. */
  beginAnswer(batch: Batch, { hasLeft }: Pull): Batch {
    this.#answering.push({ batch, hasLeft });
    return batch;
  }

  /** Ends one answer with the batch: it was written, or its client left. Returns how many other answers carry the batch. */
  endAnswer(batch: Batch, isWritten: boolean): number {
    const answers = this.#answering.filter(answer => answer.batch === batch);
    const ended = answers.find(({ hasLeft }) => hasLeft() !== isWritten) ?? answers[0];
    if (!ended) return 0;
    this.#answering.splice(this.#answering.indexOf(ended), 1);
    return answers.length - 1;
  }

  /** The batch that a request without a uuid may repeat. One for the last split gets all files that the node had, not only the last batch. */
  #lastFor({ run, wantsLastSplit }: Pull): Batch | null {
    const last = this.batches.findLast(batch => batch.run === run);
    return last && (last.isReplay || !wantsLastSplit) ? last : null;
  }

  /** The files that the node has not acknowledged, or that failed in their last run; with the failed test cases if it named them. */
  #unfinished(notRun: ReadonlySet<number> | undefined): Replay | null {
    /** The test cases to run; undefined: the whole file. */
    const unfinished = new Map<number, string[] | undefined>();
    const finished = new Set<number>();
    for (const batch of this.batches) {
      const failed = new Set(batch.failed);
      const cases = new Map(batch.failed ? batch.failed_cases : batch.cases);
      const moved = isRequeued(batch) ? new Set(movedFiles(batch)) : null;
      for (const file of batch.files) {
        // A retry takes no failure back: without --flaky-passes, the node that is started again is to run the file.
        if (batch.retry && !failed.has(file)) continue;
        unfinished.delete(file);
        finished.delete(file);
        // It went back to the queue, for any node.
        if (moved?.has(file)) continue;
        if (!batch.failed || failed.has(file)) unfinished.set(file, cases.get(file));
        else finished.add(file);
      }
    }
    for (const file of finished) if (notRun?.has(file)) unfinished.set(file, undefined);
    if (unfinished.size === 0) return null;
    const cases = [...unfinished].filter((entry): entry is CasesByFile[number] => entry[1] !== undefined);
    return { files: [...unfinished.keys()], ...(cases.length > 0 && { cases }) };
  }
}
