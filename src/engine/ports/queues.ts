import type { Estimates } from '../../planning/estimating/estimate.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import type { BuildKey } from '../build-key.js';
import type { QueueKey } from '../keys.js';
import type { People } from '../people.js';
import type { Batch } from '../queue/batch.js';
import type { Queue } from '../queue/queue.js';
import type { Segments } from '../segments.js';
import type { TestFileList } from '../test-file-list.js';
import type { Millis, Soon } from './store.js';

/** Queues of queue mode, each found under the key of its request. */
export interface Queues {
  /** The queue under a key. */
  find(key: QueueKey): Soon<QueueInfo | null>;
  /** The newest queue of a build, whichever its CI run. */
  newest(project: number, build: BuildKey): Soon<QueueInfo | null>;
  /** Creates a queue. Of many that are created under one key at once, one wins. Resolves with whether this one did. */
  create(key: QueueKey, queue: NewQueue, at: Millis): Promise<boolean>;
  /**
   * Puts a copy of the build's newest queue under a key, with what every node was handed there. A copy, because the nodes of the
   * other may still be pulling: each of the two hands out every file. False: the build has no queue.
   */
  repeat(key: QueueKey, at: Millis): Promise<boolean>;
  /**
   * Runs a verb on the state of a queue, and resolves with its value when everything that this verb and earlier ones changed is
   * on disk. Null: there is no queue under the key. A queue in use does not expire.
   *
   * Calls on one queue keep their order. The state has every change that was made before the call. `facts` reads what the verb
   * needs from elsewhere; `verb` must not read anything else, and may run again on another state when the first did not reach
   * the disk, so that metrics and log lines are made of its value.
   */
  update<Facts, Value>(
    key: QueueKey,
    facts: (queue: OpenQueue) => Soon<Facts>,
    verb: (queue: OpenQueue, facts: Facts) => Verdict<Value>,
    at: Millis,
  ): Promise<Value | null>;
  /** Notes that a node sent another list of test files, unless that is noted already. */
  noteOtherList(queue: QueueInfo, difference: string): Promise<void>;
  /** Some files of a queue, at least one, in UTF-8, as a JSON array of PlannedTestFile. Throws a 503 when the queue expired. */
  files(queue: string, files: readonly number[]): Soon<Buffer>;
  /** How many files a queue has. */
  size(queue: string): Soon<number>;
  /** What nodes of this queue were handed, oldest first, as far as it is on disk. */
  batches(queue: string): Soon<Batch[]>;
  /** Of a copy: what nodes of the copied queue had been handed; else empty. */
  copiedBatches(queue: string): Soon<Batch[]>;
  forecast(queue: string): Soon<Forecast | null>;
  /** Encodes test files for `create`. Pure, and possible in any thread. */
  encode(files: Estimates): Segments;
  /** The queues in memory now. */
  load(): QueueLoad;
}

export interface QueueInfo {
  id: string;
  /** Its name in answers, the same for all nodes of its build. */
  name: string;
  node_total: number;
  /** It repeats an earlier queue: every node that starts gets first what it was handed there. */
  repeats: boolean;
  created_at: Millis;
  /** How many runs of its build were recorded before it was made; missing: an older Ballast made it. */
  runs_before?: number;
  /** When a copy was made, and how many runs were recorded before; `created_at` and `runs_before` are those of the copied queue. */
  copied_at?: Millis;
  copied_runs_before?: number;
  /** The list that it was made of; missing: an older Ballast made it. */
  list?: TestFileList;
  /** How a node's list differed from `list`; missing: no node sent another one. */
  other_list?: string;
  /** The queue expires by this time, which moves while the queue is in use. */
  used_at: Millis;
}

export interface OpenQueue {
  readonly id: string;
  readonly info: QueueInfo;
  readonly queue: Queue;
}

export interface NewQueue {
  people: People;
  list: TestFileList;
  /** The test files, slowest first, made by `encode`. */
  files: Segments;
  /** See weight.ts. */
  weights: Float64Array;
  /** Most files were never measured. */
  guessed: boolean;
  forecast: Forecast;
}

/** What a verb returns, and the changes that are to be kept. */
export interface Verdict<Value> {
  value: Value;
  changes: readonly Change[];
}

/** A batch that is new or changed, or the seq of one that was taken back. */
export type Change = Batch | number;

export interface QueueLoad {
  inMemory: number;
  /** Those of them that have files left. */
  open: number;
  bytes: number;
  testFilesLeft: number;
}
