import { type Batch, type CasesByFile, isRequeued, type Pull } from './batch.js';

const EMPTY_MILLISECONDS = 60_000;

/** What one node of a queue was handed, and what it gets again. */
export class Node {
  /** In the order of handing, over all runs. */
  readonly batches: Batch[] = [];
  /** Its pulls that are being answered. */
  readonly #answering: { batch: Batch; hasLeft: () => boolean }[] = [];
  readonly #byUuid = new Map<string, Batch>();
  /** Runs whose last pull left them with nothing: sent again, it has nothing to repeat. */
  readonly #emptyHanded = new Set<string>();
  /** When it last came for nothing, in milliseconds since 1970. */
  #emptyAt = -Infinity;
  /** Batches read back from the journal that may not have reached it. */
  #unconfirmed: Set<Batch> | null = null;

  get files(): number[] {
    return [...new Set(this.batches.flatMap(batch => batch.files))];
  }

  get isAnswering(): boolean {
    return this.#answering.length > 0;
  }

  add(batch: Batch): void {
    this.batches.push(batch);
    if (batch.batch_uuid !== null) this.#byUuid.set(batch.batch_uuid, batch);
    this.#emptyHanded.delete(batch.run);
  }

  /** It never got the batch. */
  remove(batch: Batch): void {
    this.batches.splice(this.batches.lastIndexOf(batch), 1);
    if (batch.batch_uuid !== null) this.#byUuid.delete(batch.batch_uuid);
    if (batch.batch_uuid === null) this.#emptyHanded.add(batch.run);
  }

  markEmptyHanded({ run, batch_uuid }: Pick<Pull, 'run' | 'batch_uuid'>): void {
    if (batch_uuid === null) this.#emptyHanded.add(run);
  }

  /** It starts, and gets nothing. Returns whether that is to be kept: once a minute is enough. */
  shouldRecordEmptyStart(now: number): boolean {
    if (now - this.#emptyAt < EMPTY_MILLISECONDS && now >= this.#emptyAt) return false;
    this.#emptyAt = now;
    return true;
  }

  /** All that was added was read back from the journal. */
  markUnconfirmed(): void {
    for (const batch of this.batches) {
      const last = this.batches.findLast(({ run }) => run === batch.run) === batch;
      if (last && !batch.delivered && batch.batch_uuid === null) (this.#unconfirmed ??= new Set()).add(batch);
    }
  }

  /** It has the batch. */
  confirm(batch: Batch): void {
    this.#unconfirmed?.delete(batch);
  }

  /** The batch that this request, sent again, was answered with before. */
  repeatedBatch({ batch_uuid, run, isRetry, wantsLastSplit }: Pull): Batch | null {
    if (batch_uuid !== null) return this.#byUuid.get(batch_uuid) ?? null;
    const last = this.batches.findLast(batch => batch.run === run);
    // A first request that wants the last split gets all that the node had, the last batch included.
    if (!last || (wantsLastSplit && !last.isReplay)) return null;
    if (this.#unconfirmed?.delete(last)) return last;
    // The node closed the connection on which its last answer would come, and asks again on another.
    const answers = this.#answering.filter(({ batch }) => batch === last);
    if (answers.length > 0 && answers.every(({ hasLeft }) => hasLeft())) return last;
    return isRetry && !this.#emptyHanded.has(run) ? last : null;
  }

  /** What a run which starts gets again of what the node had. */
  replayedFiles({ isFirstRequest, acknowledges, wantsLastSplit, run, unmeasured }: Pull): Pick<Batch, 'files' | 'cases'> {
    if (wantsLastSplit) return { files: this.files };
    return acknowledges && isFirstRequest && !this.batches.some(batch => batch.run === run) ? this.#unfinished(unmeasured) : { files: [] };
  }

  beginAnswer(batch: Batch, hasLeft: () => boolean): void {
    this.#answering.push({ batch, hasLeft });
  }

  /** One answer with the batch was written, or its client left. Returns how many others still bring it, null when none did. */
  endAnswer(batch: Batch, written: boolean): number | null {
    const answers = this.#answering.filter(answer => answer.batch === batch);
    const ended = answers.find(({ hasLeft }) => hasLeft() !== written) ?? answers[0];
    if (!ended) return null;
    this.#answering.splice(this.#answering.indexOf(ended), 1);
    return answers.length - 1;
  }

  /** What it did not tell to have run, or ran with a failure the last time: of a file the test cases that failed, where it named them. */
  #unfinished(unmeasured: Pull['unmeasured']): Pick<Batch, 'files' | 'cases'> {
    /** Undefined: all of it. */
    const files = new Map<number, string[] | undefined>();
    const done = new Set<number>();
    for (const batch of this.batches) {
      const failed = new Set(batch.failed);
      const cases = new Map(batch.failed ? batch.failed_cases : batch.cases);
      for (const file of batch.files) {
        files.delete(file);
        done.delete(file);
        // What it gave up is for others to have.
        if (isRequeued(batch)) continue;
        if (!batch.failed || failed.has(file)) files.set(file, cases.get(file));
        else done.add(file);
      }
    }
    if (unmeasured) for (const file of done) if (unmeasured.has(file)) files.set(file, undefined);
    const cases = [...files].filter((entry): entry is CasesByFile[number] => entry[1] !== undefined);
    return { files: [...files.keys()], ...(cases.length > 0 && { cases }) };
  }
}
