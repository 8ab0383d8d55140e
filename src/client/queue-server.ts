import { randomUUID } from 'node:crypto';
import type { TestQueueAnswer } from '../wire/test-queue.js';
import { batchAnswer, batchAnswerOrMiss } from './answers.js';
import type { Answer, Api, Check } from './api.js';
import type { BatchResult, PlannedFile } from './batch-results.js';
import type { Identity } from './ci/identity.js';

/** A batch, and what its acknowledgement names. */
export interface Batch {
  id: number;
  files: PlannedFile[];
}

/** The queue of a CI run, as one process of one node takes batches from it. */
export class QueueServer {
  readonly #process = randomUUID();
  #index = 0;

  constructor(
    readonly api: Api,
    readonly identity: Identity,
  ) {}

  /** The first batch; null: there is none for this node. Makes the queue of all test files when there is none yet. */
  async first(all: readonly string[]): Promise<Batch | null> {
    const start = { can_initialize_queue: true, batch_index: 0 };
    const answer = await this.#ask({ ...start, attempt_connect_to_queue: true }, batchAnswerOrMiss);
    if (!('code' in answer)) return toBatch(answer);
    return toBatch(await this.#ask({ ...start, attempt_connect_to_queue: false, paths: all }, batchAnswer));
  }

  /**
   * Tells what became of a batch; returns the next one, null at the end. What may not have been run is not told to have been: the
   * node gets it when it is run again, and until then the build is not complete.
   */
  async next({ id: batch_id }: Batch, { failed: failed_paths, isRun }: BatchResult): Promise<Batch | null> {
    this.#index += 1;
    const pull = { can_initialize_queue: false, attempt_connect_to_queue: false, batch_index: this.#index };
    // A cache in the way would give the same batch for ever.
    const check = (answer: Answer) => {
      const next = batchAnswer(answer);
      return next?.batch_id === batch_id ? null : next;
    };
    return toBatch(await this.#ask({ ...pull, ...(isRun && { batch_id, failed_paths }) }, check));
  }

  #ask<T>(more: object, check: Check<T>): Promise<T> {
    const { build_id: test_queue_id, ...node } = this.identity;
    const message = { ...node, test_queue_id, node_uuid: this.#process, wants_times: true, ...more };
    return this.api.post('/v2/queues/queue', message, check);
  }
}

function toBatch({ paths, batch_id, times = [] }: TestQueueAnswer): Batch | null {
  if (batch_id === null) return null;
  return { id: batch_id, files: paths.map((path, i) => ({ path, expected: times[i] ?? null })) };
}
