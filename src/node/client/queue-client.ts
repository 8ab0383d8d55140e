import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProvedPart } from '../../protocol/answers/completeness.js';
import { digestOfList, sortedDistinct } from '../../protocol/list-digest.js';
import type { ConnectFailed, HandedPiece, QueueForecast, TestQueueAnswer, TestQueueMessage } from '../../protocol/messages/queue.js';
import { pieceOf } from '../../protocol/piece-path.js';
import type { Identity } from '../ci/identity.js';
import type { ToldByNode } from '../ci/told-by-node.js';
import type { Piece } from '../pieces/piece.js';
import { isForecast, parseBatch, parseBatchOrMiss, pullParser } from './answers.js';
import { type AnswerParser, Api, RequestRejected, ServerUnreachable } from './api.js';
import type { BatchResult, RecordedFile } from './batch-results.js';
import { assertListed, detectMismatch, retryOnMismatch } from './list-mismatch.js';
import type { PlannedFile } from './planned-file.js';

export interface Batch {
  id: number;
  files: PlannedFile[];
  /** Its file failed, on this node or another one, and is retried. */
  isRetry: boolean;
  /** Of the whole queue, with the first batch of a process; null: later, or from an older server. */
  forecast: QueueForecast | null;
}

/** How a queue is to be made. */
export type QueueWishes = Pick<TestQueueMessage, 'order' | 'proved_max_age'>;

/** What a node can do besides running whole files once: the test runner with which it runs pieces, and the retries of files that failed. */
type Abilities = { [Name in 'pieces' | 'retry_failed']?: TestQueueMessage[Name] | undefined };

/** The fields of a pull that are not of each pull. */
type PullFields = Omit<Partial<TestQueueMessage>, 'paths' | 'failed_paths'> & {
  paths?: readonly string[];
  failed_paths?: readonly string[];
};

/** What a node does when the server says more than what to run next. */
export interface QueueEvents {
  /** No file is left, but other nodes are at work. Returns whether to wait for the files of one that dies. */
  standBy(): Promise<boolean>;
  /** The queue leaves out test files that other CI runs proved. */
  leftOut(proved: ProvedPart): void;
  /** The node is done: of the test files that failed on it, these passed in their retries. */
  passedAgain(paths: readonly string[]): void;
  /** The server took the node for dead, and recorded what it had run before this batch. */
  recorded(last: Batch): void;
}

/** Files may come back once when the node was silent for too long, and again after a restored backup. */
const MOST_TIMES_HANDED = 3;

/** CI systems kill a process some seconds after its signal. */
const CANCEL_SECONDS = 1;

/** The server takes a node for dead that is silent for some times as long. */
const HEARTBEAT_MILLISECONDS = 15_000;

/** Sizes of more files would be a large part of the request, and their queue learns from its first batches anyway. */
const MOST_SIZES = 10_000;

/** Takes batches from the queue of a CI run, for one process of one node. */
export class QueueClient {
  readonly #nodeUuid = randomUUID();
  readonly #digest: string;
  #batchIndex = 0;
  /** Number of times that each file was handed out. */
  readonly #timesHanded = new Map<string, number>();
  #heartbeats: NodeJS.Timeout | undefined;

  /**
   * @param allFiles the test files of all nodes
   * @param told with its first requests
   * @param wishes for a queue that it creates
   */
  constructor(
    readonly api: Api,
    readonly identity: Identity,
    readonly allFiles: readonly string[],
    readonly told: ToldByNode,
    readonly wishes: QueueWishes = {},
    readonly abilities: Abilities = {},
  ) {
    this.#digest = digestOfList(allFiles);
  }

  /**
   * Returns the first batch; null: the queue has none for this node. Creates the queue if there is none. Throws ListMismatch if the queue was
   * made from another list.
   */
  async firstBatch(events: QueueEvents): Promise<Batch | null> {
    const start = { ...this.told, can_initialize_queue: true, batch_index: 0 };
    const answer = await this.#pull({ ...start, attempt_connect_to_queue: true }, parseBatchOrMiss);
    if (!('code' in answer)) return this.#first(answer, events);
    const paths = sortedDistinct(this.allFiles);
    const sizes = paths.length <= MOST_SIZES ? paths.map(sizeOf) : [];
    const list = { paths: this.allFiles, sizes, ...this.wishes };
    const initialise = () => this.#pull({ ...start, attempt_connect_to_queue: false, ...list }, parseBatch);
    return this.#first(await retryOnMismatch(initialise), events);
  }

  #first(answer: TestQueueAnswer, events: QueueEvents): Promise<Batch | null> {
    if (answer.proved) events.leftOut(answer.proved);
    return this.#batchOrWait(answer, events);
  }

  /** Acknowledges a batch and returns the next one; null: the queue is empty. A node that is retried gets what failed or did not run. */
  async nextBatch(last: Batch, { recorded, failed: failed_paths }: BatchResult, events: QueueEvents): Promise<Batch | null> {
    const answer = await this.#pullNext({ batch_id: last.id, failed_paths, times: timesOf(last, recorded) });
    if (answer.is_recorded) events.recorded(last);
    return this.#batchOrWait(answer, events);
  }

  /** Tells the server that this process is cancelled, and what did not pass of a batch if that is known. Returns whether the server noted it. */
  async cancel(interrupted?: { batch: Batch; failed: readonly string[] }): Promise<boolean> {
    clearInterval(this.#heartbeats);
    const { batch, failed: failed_paths } = interrupted ?? {};
    // It is tried once, for a short time. An older server does not know the path.
    const { signal: _, ...options } = this.api.options;
    const api = new Api({ ...options, timeoutSeconds: CANCEL_SECONDS });
    const message = { ...this.#process(), batch_id: batch?.id, failed_paths };
    return api.post('/v2/queues/cancel', message, ({ status }) => status === 200, 0).catch(() => false);
  }

  async #batchOrWait(answer: TestQueueAnswer, events: QueueEvents): Promise<Batch | null> {
    if (answer.pull_again_in === undefined) return this.#batchOrEnd(answer, events);
    return (await events.standBy()) ? this.#waitForBatch(answer.pull_again_in, events) : null;
  }

  /** Pulls until there is a batch, or no need to wait. */
  async #waitForBatch(seconds: number, events: QueueEvents): Promise<Batch | null> {
    for (let again: number | undefined = seconds; again !== undefined; ) {
      await sleep(1000 * again, undefined, this.api.options.signal && { signal: this.api.options.signal });
      try {
        const answer: TestQueueAnswer = await this.#pullNext({});
        again = answer.pull_again_in;
        if (again === undefined) return this.#batchOrEnd(answer, events);
      } catch (error) {
        // Each file is handed out, and this node ran its own.
        if (error instanceof ServerUnreachable) return null;
        throw error;
      }
    }
    return null;
  }

  #batchOrEnd(answer: TestQueueAnswer, events: QueueEvents): Batch | null {
    if (answer.passed_again) events.passedAgain(answer.passed_again);
    return this.#toBatch(answer);
  }

  #pullNext(report: Pick<PullFields, 'batch_id' | 'failed_paths' | 'times'>): Promise<TestQueueAnswer> {
    this.#batchIndex += 1;
    const pull = { can_initialize_queue: false, attempt_connect_to_queue: false, batch_index: this.#batchIndex };
    return this.#pull({ ...pull, ...report }, parseBatch);
  }

  async #sendHeartbeat(): Promise<void> {
    try {
      await this.api.post('/v2/queues/heartbeat', this.#process(), ({ status }) => (status === 200 ? true : null), 0);
    } catch (error) {
      // An older server does not know the path, and one that lost the queue needs none.
      if (error instanceof RequestRejected) clearInterval(this.#heartbeats);
    }
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

  #pull<T extends TestQueueAnswer | ConnectFailed>(fields: PullFields & { batch_index: number }, parse: AnswerParser<T>): Promise<T> {
    clearInterval(this.#heartbeats);
    const own = { wants_times: true, test_files_digest: this.#digest, sends_heartbeats: true };
    const message = { ...this.#process(), ...own, ...this.abilities, ...fields };
    return detectMismatch(() => this.api.post('/v2/queues/queue', message, pullParser(this.#nodeUuid, fields.batch_index, parse)));
  }

  /** The fields that name this process. */
  #process() {
    const { build_id: test_queue_id, ...node } = this.identity;
    return { ...node, test_queue_id, node_uuid: this.#nodeUuid };
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

  #toBatch({ paths, batch_id, times = [], learned, pieces = [], is_retry, forecast }: TestQueueAnswer): Batch | null {
    if (batch_id === null) return null;
    assertListed('queue', paths, this.allFiles);
    this.#countFiles(paths);
    this.#heartbeats = setInterval(() => void this.#sendHeartbeat(), HEARTBEAT_MILLISECONDS).unref();
    const byPath = new Map(pieces.map(piece => [piece.path, piece]));
    const expectation = (expected: number | null) => ({
      expected,
      ...(expected !== null && learned && { duration: learned.hidden + learned.slowdown * expected }),
    });
    return {
      id: batch_id,
      files: paths.map((path, i) => ({ path, ...expectation(times[i] ?? null), ...this.#pieceOf(path, byPath.get(path)) })),
      isRetry: is_retry === true,
      forecast: isForecast(forecast) ? forecast : null,
    };
  }
}

/** The time of each file of a batch, as the protocol has it. */
function timesOf({ files }: Batch, recorded: readonly RecordedFile[]): (number | null)[] {
  const byPath = new Map(recorded.map(file => [file.path, file]));
  return files.map(({ path }) => {
    const file = byPath.get(path);
    return file?.ran ? null : (file?.time_execution ?? 0);
  });
}

/** The size of a file in bytes; 0: it cannot be read. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
