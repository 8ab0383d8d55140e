import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { digestOfList, sortedDistinct } from '../../protocol/list-digest.js';
import type { ConnectFailed, HandedPiece, QueueForecast, TestQueueAnswer, TestQueueMessage } from '../../protocol/messages/queue.js';
import { pieceOf } from '../../protocol/piece-path.js';
import type { Identity } from '../ci/identity.js';
import type { NodeLinks } from '../ci/links.js';
import type { Piece } from '../pieces/piece.js';
import { isForecast, parseBatch, parseBatchOrMiss, pullParser } from './answers.js';
import { type AnswerParser, Api, RequestRejected } from './api.js';
import type { BatchResult } from './batch-results.js';
import { assertListed, detectMismatch, retryOnMismatch } from './list-mismatch.js';
import type { PlannedFile } from './planned-file.js';

export interface Batch {
  id: number;
  files: PlannedFile[];
  /** Of the whole queue, with the first batch of a process; null: later, or from an older server. */
  forecast: QueueForecast | null;
}

/** Files may come back once when the node was silent for too long, and again after a restored backup. */
const MOST_TIMES_HANDED = 3;

/** CI systems kill a process some seconds after its signal. */
const CANCEL_SECONDS = 1;

/** Sizes of more files would be a large part of the request, and their queue learns from its first batches anyway. */
const MOST_SIZES = 10_000;

/** Takes batches from the queue of a CI run, for one process of one node. */
export class QueueClient {
  readonly #nodeUuid = randomUUID();
  readonly #digest: string;
  #batchIndex = 0;
  /** Number of times that each file was handed out. */
  readonly #timesHanded = new Map<string, number>();

  /**
   * @param allFiles the test files of all nodes
   * @param links what its first requests tell
   * @param pieces the test runner with which the node runs pieces of files; null: it runs none
   */
  constructor(
    readonly api: Api,
    readonly identity: Identity,
    readonly allFiles: readonly string[],
    readonly links: NodeLinks,
    readonly pieces: string | null = null,
  ) {
    this.#digest = digestOfList(allFiles);
  }

  /**
   * Returns the first batch; null: the queue has none for this node. Creates the queue if there is none. Throws ListMismatch if the queue was
   * made from another list.
   */
  async firstBatch(): Promise<Batch | null> {
    const start = { ...this.links, can_initialize_queue: true, batch_index: 0 };
    const answer = await this.#pull({ ...start, attempt_connect_to_queue: true }, parseBatchOrMiss);
    if (!('code' in answer)) return this.#toBatch(answer);
    const paths = sortedDistinct(this.allFiles);
    const sizes = paths.length <= MOST_SIZES ? paths.map(sizeOf) : [];
    const initialise = () => this.#pull({ ...start, attempt_connect_to_queue: false, paths: this.allFiles, sizes }, parseBatch);
    return this.#toBatch(await retryOnMismatch(initialise));
  }

  /** Acknowledges a batch and returns the next one; null: the queue is empty. A node that is retried gets what failed or did not run. */
  async nextBatch({ id: batch_id }: Batch, { failed: failed_paths }: BatchResult): Promise<Batch | null> {
    this.#batchIndex += 1;
    const pull = { can_initialize_queue: false, attempt_connect_to_queue: false, batch_index: this.#batchIndex };
    return this.#toBatch(await this.#pull({ ...pull, batch_id, failed_paths }, parseBatch));
  }

  /** Tells the server that this process is cancelled. It is tried once, for a short time: nothing depends on it. */
  async cancel(): Promise<void> {
    const { build_id: test_queue_id, ...node } = this.identity;
    const api = new Api({ ...this.api.options, timeoutSeconds: CANCEL_SECONDS });
    // An older server does not know the path.
    await api.post('/v2/queues/cancel', { ...node, test_queue_id, node_uuid: this.#nodeUuid }, () => true, 0).catch(() => {});
  }

  /** Throws when this process got a file so often that the server cannot note what it hands out. */
  #countFiles(paths: readonly string[]): void {
    for (const path of paths) {
      const times = 1 + (this.#timesHanded.get(path) ?? 0);
      this.#timesHanded.set(path, times);
      if (times > MOST_TIMES_HANDED)
        throw new RequestRejected(
          `the server handed out ${path} ${times} times to this node, which ran and acknowledged it: the server keeps no state, or a proxy answers for it; compare --url with the address of the server`,
          200,
        );
    }
  }

  #pull<T extends TestQueueAnswer | ConnectFailed>(
    fields: Omit<Partial<TestQueueMessage>, 'paths'> & { batch_index: number; paths?: readonly string[] },
    parse: AnswerParser<T>,
  ): Promise<T> {
    const { build_id: test_queue_id, ...node } = this.identity;
    const own = { node_uuid: this.#nodeUuid, wants_times: true, test_files_digest: this.#digest };
    const message = { ...node, test_queue_id, ...own, ...(this.pieces !== null && { pieces: this.pieces }), ...fields };
    return detectMismatch(() => this.api.post('/v2/queues/queue', message, pullParser(this.#nodeUuid, fields.batch_index, parse)));
  }

  /** Throws when the path names a piece, and the answer lacks its test cases. */
  #pieceOf(path: string, handed: HandedPiece | undefined): { piece: Piece } | null {
    const named = pieceOf(path);
    if (!named || (!handed && this.allFiles.includes(path))) return null;
    if (!handed) throw new RequestRejected(`the server handed out ${path} without its test cases: run this node again`, 200);
    const { cases, others, is_trial: isTrial } = handed;
    const outcomes = new Map(handed.outcomes.map(ofName => [ofName.name, ofName.outcomes]));
    return { piece: { path, file: named.file, cases, others, outcomes, isTrial } };
  }

  #toBatch({ paths, batch_id, times = [], pieces = [], forecast }: TestQueueAnswer): Batch | null {
    if (batch_id === null) return null;
    assertListed('queue', paths, this.allFiles);
    this.#countFiles(paths);
    const byPath = new Map(pieces.map(piece => [piece.path, piece]));
    return {
      id: batch_id,
      files: paths.map((path, i) => ({ path, expected: times[i] ?? null, ...this.#pieceOf(path, byPath.get(path)) })),
      forecast: isForecast(forecast) ? forecast : null,
    };
  }
}

/** The size of a file in bytes; 0: it cannot be read. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
