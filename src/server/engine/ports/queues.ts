import type { Saving, Soon } from '../../../base/soon.js';
import type { BatchSums } from '../../planning/batching/batch-cost.js';
import type { Mode } from '../../planning/estimating/estimate.js';
import type { BuildKey, QueueKey } from '../keys.js';
import type { Moment } from '../moment.js';
import type { Batch } from '../queue/batch.js';
import type { Failed } from '../queue/failed.js';
import type { Queue } from '../queue/queue.js';
import type { NewPlan, PlanInfo, PlanParts } from './plans.js';
import type { Millis } from './store.js';

/** Queues of queue mode, each found under the key of its request. */
export interface Queues {
  /** The queue under a key. */
  find(key: QueueKey): Soon<QueueInfo | null>;
  /** The newest queue of a build, of any CI run. */
  newest(project: number, build: BuildKey): Soon<QueueInfo | null>;
  /** Creates a queue. Of concurrent calls with the same key, one wins. Resolves with whether this one did. */
  create(key: QueueKey, queue: NewQueue, at: Millis): Promise<boolean>;
  /**
   * Copies the build's newest queue, with the batches of every node, to a key. Nodes may still pull from the original, so each of the
   * two queues hands out every file. False: the build has no queue.
   */
  repeat(key: QueueKey, at: Millis): Promise<boolean>;
  /**
   * Runs a verb on the state of a queue. `saved` resolves when the changes of this verb and of earlier ones are on disk.
   * A value of null: there is no queue under the key. A queue in use does not expire.
   *
   * Calls on one queue keep their order. The state has every change that was made before the call. `facts` reads what the verb
   * needs from elsewhere; `verb` must read nothing else. The verb may run again on another state when its first result did not
   * reach the disk, so metrics and log lines come from the value. Metrics and log lines are written before the disk has the changes: if that write
   * fails, the caller gets a 503 and may try again.
   */
  update<Facts, Value>(key: QueueKey, facts: ReadFacts<Facts>, verb: Verb<Facts, Value>, at: Millis): Soon<Saving<Value | null>>;
  /** The uptimes of this process at which others heard of nodes of a queue, a few seconds late. Null: there is no other process. */
  heardElsewhere(queue: string): Soon<[node: number, at: number][]> | null;
  /** Notes that a node sent another list of test files, unless that is noted already. */
  noteOtherList(queue: QueueInfo, difference: string): Promise<void>;
  /** The batches of this queue that are on disk, oldest first. */
  batches(queue: string): Soon<Batch[]>;
  /** Of a copy: the batches of the copied queue. Otherwise empty. */
  copiedBatches(queue: string): Soon<Batch[]>;
  /** A number that is another one after each change of the batches of this queue that is on disk. It is cheaper to read than the batches. */
  revision(queue: string): Soon<number>;
  /** Returns the sums that queues, or splits, of a project observed of their batches, for the next one; null: nothing. */
  learned(project: number, mode: Mode): Soon<BatchSums | null>;
  /**
   * Adds what was observed of batches. Resolves when it is on disk, or lost. Few wait for that: if it is lost, the next queue or split learns
   * it again.
   */
  learn(project: number, mode: Mode, observed: BatchSums): Promise<void>;
  /** The queues in memory now. */
  load(): QueueLoad;
}

export interface QueueInfo extends PlanInfo {
  /** Its name in answers, the same for all nodes of its build. */
  name: string;
  /**
   * When it was copied from an earlier queue of its build: every node that starts first gets its files from there. `created_at` and
   * `runs_before` are those of that queue. Null: it is no copy.
   */
  copied: Moment | null;
}

export interface OpenQueue {
  readonly id: string;
  readonly info: QueueInfo;
  readonly queue: Queue;
}

export interface NewQueue extends NewPlan, Pick<PlanParts, 'weights'> {
  /** Most files were never measured. */
  guessed: boolean;
  /** Sums that earlier queues of the project observed of their batches; null: nothing. */
  learned: BatchSums | null;
  /** Null: no file is cut. */
  cuts: PlanParts['cuts'] | null;
  /** Null: no file goes first. */
  first: PlanParts['first'] | null;
}

export type ReadFacts<Facts> = (queue: OpenQueue) => Soon<Facts>;
/** @param mayWait it may wait for a note: see Verdict */
export type Verb<Facts, Value> = (queue: OpenQueue, facts: Facts, mayWait: boolean) => Verdict<Value>;

/** The value that a verb returns, and the changes to store. */
export interface Verdict<Value> {
  value: Value;
  changes: readonly Change[];
  /** The value does not depend on the state of the queue. A store then need not check that the state was the newest. */
  isNote?: true;
  /**
   * There is no value yet, and nothing changed: another process may be about to note that a batch was delivered. The verb is to be called again,
   * a little later.
   */
  lacksNote?: true;
}

/** A new or changed batch, the seq of a batch that was taken back, or a note that one was delivered or acknowledged. */
export type Change = Batch | number | Delivery | Acknowledgement;

/** The response with a batch was written. */
export interface Delivery {
  delivered_seq: number;
}

/** A node told what became of a batch. */
export interface Acknowledgement extends Failed, Pick<Batch, 'times'> {
  acknowledged_seq: number;
}

export function isBatch(change: Change): change is Batch {
  return typeof change === 'object' && 'seq' in change;
}

/** Applies the next change of a queue to its batches by seq. */
export function applyChange(batches: Map<number, Batch>, change: Change): void {
  if (typeof change === 'number') batches.delete(change);
  else if (isBatch(change)) {
    // A batch that changes later keeps its times, which are not in memory.
    change.times ??= batches.get(change.seq)?.times;
    batches.set(change.seq, change);
  } else if ('delivered_seq' in change) {
    const batch = batches.get(change.delivered_seq);
    if (batch) batch.delivered = true;
  } else {
    const { acknowledged_seq, ...told } = change;
    const batch = batches.get(acknowledged_seq);
    if (batch) Object.assign(batch, told);
  }
}

export interface QueueLoad {
  inMemory: number;
  /** Number of queues in memory that have files left. */
  open: number;
  bytes: number;
  testFilesLeft: number;
}
