import { type Batch, isRequeued, movedFiles } from './batch.js';

/** With more failed files, or with more of the work in several of them, something other than the tests is broken: none is retried. */
const MOST_FAILED = 10;
const MOST_WORK = 0.05;

/** A file that failed. */
interface Failure {
  /** The nodes on which it did. */
  nodes: Set<number>;
  /** `waiting`: for its retry. `running`: in its retry. `failed`: in its retry, too, or it gets none. */
  state: 'waiting' | 'running' | 'passed' | 'failed';
}

/** The files of a queue that failed. Each is retried once: it runs again alone, on another node where one is free. */
export class Retries {
  readonly #failures = new Map<number, Failure>();

  /** @param work the weight of all files */
  constructor(
    readonly weights: Float64Array,
    readonly work: number,
  ) {}

  /**
   * Notes the state of a batch: it was handed out as a retry, its node told how it ended, or its files went back to the queue.
   *
   * @param times what each file took; 0: it was not measured. A file that could not be loaded or hung has no time, and gets no retry
   */
  note(batch: Batch, times: readonly (number | null)[] = []): void {
    if (batch.retry) this.#noteRetry(batch);
    else if (batch.failed && batch.lease !== 'cancelled') this.#noteOutcomes(batch, batch.failed, times);
  }

  /** Notes that a batch did not reach its node. */
  takeBack({ files }: Batch): void {
    for (const file of files) this.#set(file, 'waiting');
  }

  /** The file whose retry is next on a node; null: there is none. @param isAlone no other node is free, so the node gets its own files, too */
  nextFor(node: number, isAlone: boolean): number | null {
    if (this.#failures.size === 0 || this.#areTooMany) return null;
    let own: number | null = null;
    for (const [file, { nodes, state }] of this.#failures) {
      if (state !== 'waiting') continue;
      if (!nodes.has(node)) return file;
      own ??= file;
    }
    return isAlone ? own : null;
  }

  /** Tells whether the retry of a file that failed on the node has not ended yet. */
  isOpenFor(node: number): boolean {
    for (const { nodes, state } of this.#failures.values())
      if (nodes.has(node) && (state === 'running' || (state === 'waiting' && !this.#areTooMany))) return true;
    return false;
  }

  /** The files that failed on the node, and passed in their retries. */
  passedOf(node: number): number[] {
    return [...this.#failures].flatMap(([file, { nodes, state }]) => (state === 'passed' && nodes.has(node) ? file : []));
  }

  #noteRetry(batch: Batch): void {
    const { files, failed, lease } = batch;
    const hasEnded = failed !== undefined && lease !== 'cancelled';
    const moved = !hasEnded && isRequeued(batch) ? movedFiles(batch) : [];
    for (const file of files) {
      if (moved.includes(file)) this.#set(file, 'waiting');
      else if (failed) this.#set(file, failed.includes(file) ? 'failed' : 'passed');
      // Too many nodes died with it: it is not handed out again.
      else this.#set(file, isRequeued(batch) ? 'failed' : 'running');
    }
  }

  /** Of two retries of a file, because the node of one was silent for a time, both must pass. */
  #set(file: number, state: Failure['state']): void {
    const failure = this.#failures.get(file);
    if (failure && failure.state !== 'failed') failure.state = state;
  }

  #noteOutcomes({ node_index, files, cases }: Batch, failed: readonly number[], times: readonly (number | null)[]): void {
    if (failed.length === 0 && this.#failures.size === 0) return;
    const areTimed = times.length === files.length && !cases;
    for (const [i, file] of files.entries()) {
      const failure = this.#failures.get(file);
      const hasRun = areTimed && times[i] !== 0;
      if (!failed.includes(file)) {
        // Its node was started again, and ran it before its retry.
        if (failure?.state === 'waiting') this.#failures.delete(file);
      } else if (!failure) this.#failures.set(file, { nodes: new Set([node_index]), state: hasRun ? 'waiting' : 'failed' });
      else {
        failure.nodes.add(node_index);
        if (failure.state !== 'waiting' || !hasRun) failure.state = 'failed';
      }
    }
  }

  get #areTooMany(): boolean {
    const { size } = this.#failures;
    if (size <= 1) return false;
    let work = 0;
    for (const file of this.#failures.keys()) work += this.weights[file]!;
    return size > MOST_FAILED || work > MOST_WORK * this.work;
  }
}
