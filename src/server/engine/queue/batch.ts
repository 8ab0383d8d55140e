import type { Decision } from '../../../protocol/answers/why.js';
import { limits } from '../../../protocol/limits.js';
import type { FileCost } from '../../../protocol/messages/queue.js';
import { expectedTime } from '../../planning/batching/batch-cost.js';
import type { PullSituation } from '../../planning/batching/batch-weight.js';
import { toSeconds, WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Failed } from './failed.js';

/** The files that a node was handed at one pull. */
export interface Batch {
  seq: number;
  node_index: number;
  /** Distinguishes the runs of a node: the queue's key, which has the node_build_id, or a digest of the node_uuid if the client acknowledges. */
  run: string;
  batch_uuid: string | null;
  /** Milliseconds since 1970. */
  handed_at: number;
  /** Indices into the queue's test files. Empty: the node restarted when no file was left. */
  files: number[];
  /** The batch answered the first request of a run, so the node no longer works on earlier batches. */
  isFirstRequest: boolean;
  /** The number of runs of the build that were recorded before this first request; missing in later requests. */
  runs_before?: number;
  /** The node had these files before: a fixed split, or files that it has not acknowledged. */
  isReplay: boolean;
  /** Its file failed, and runs once more: see Retries. */
  retry?: true;
  /** Why it has its size; null: the planner did not size it. */
  decision: KeptDecision | null;
  /** Test cases to run instead of whole files, because only they failed. */
  cases?: CasesByFile;
  /** The id of the recorded run whose files a fixed split repeats. */
  build_subset_id: string | null;
  /** The client acknowledges what it ran. */
  acknowledges?: true;
  /** The files that failed; missing: the batch is not acknowledged. */
  failed?: number[];
  /** The failed test cases of failed files, where the client named them. */
  failed_cases?: CasesByFile;
  /** The answer was written, as far as the server knows. The store may not have this for a batch with a uuid. */
  delivered: boolean;
  /** Another process than the one that handed it out sent it again: only that one knows whether it reached the node. */
  repeated?: true;
  /** Missing: the node may be working on it. */
  lease?: EndedLease;
  /** The files that stay with the node although the lease ended: they were taken from too many nodes. */
  kept?: number[];
  /** When its node said that it was cancelled. */
  cancelled_at?: number;
  /** The client sends heartbeats while it works on the batch. */
  heartbeats?: true;
  /**
   * What the node reported of its files: whole milliseconds, 0 for a file that was not measured, or RAN_UNTIMED. Only the store has it, not a queue in
   * memory.
   */
  times?: readonly number[] | undefined;
}

/**
 * The end of a lease. `expired`: the node was silent for too long, and its files went back to the queue. `returned`: that node came back.
 * `restarted`: the node restarted, and its files went back to the queue. `cancelled`: the node was cancelled, and those of its files went back
 * that it did not report as passed. `closed`: the node finished it.
 */
export type EndedLease = 'expired' | 'returned' | 'restarted' | 'cancelled' | 'closed';

/** In `times`: the file ran, and had no time to measure. */
export const RAN_UNTIMED = -1;

/** Paths of test cases, by the file that they are in. */
export type CasesByFile = [file: number, paths: string[]][];

export interface Pull {
  node_index: number;
  run: string;
  batch_uuid: string | null;
  /** The client says that it sent this request before. */
  isRetry: boolean;
  /** The node's first request (can_initialize_queue). */
  isFirstRequest: boolean;
  /** Only in a first request: how many runs of the build were recorded before it. */
  runs_before?: number;
  /** A first request that asks for the node's last split (fixed_queue_split). */
  wantsLastSplit: boolean;
  /** The client acknowledges what it ran. Its first request gets the files that the node has not run or that failed. */
  acknowledges?: true;
  /** The client sends heartbeats while it works on a batch. */
  heartbeats?: true;
  /** The client retries files that failed, on this node or another one. */
  retriesFailed?: true;
  /** Only in a first request: files that the node recorded, but not as run. A file that cannot be loaded reports no failed test. */
  notRun?: ReadonlySet<number>;
  /** The id of the last run that the node recorded since this queue began; null: it recorded none. */
  recordedRunId: string | null;
  /** Tells whether the client has closed its connection since it sent the request. */
  hasLeft: () => boolean;
}

/** Tells whether the files of a batch went back to the queue, and its node did not return. */
export function isRequeued({ lease }: { lease?: EndedLease | null }): boolean {
  return lease === 'expired' || lease === 'restarted' || lease === 'cancelled';
}

/** Of a batch that was reassigned, the files that went back to the queue. */
export function movedFiles({ files, lease, failed, kept }: Batch): readonly number[] {
  // A node that is cancelled may report what passed.
  const unfinished = lease === 'cancelled' && failed ? failed : files;
  return kept ? unfinished.filter(file => !kept.includes(file)) : unfinished;
}

/** Tells whether the files of a batch ever went to another node. */
export function wasReassigned(batch: Batch): boolean {
  return isRequeued(batch) || batch.lease === 'returned';
}

/** The batches that a copy of a queue begins with: each file that was handed out, once. No node works on one before it asks the copy for it. */
export function copyOf(batches: readonly Batch[]): Batch[] {
  // A batch that repeats earlier ones has no files of its own.
  const own = batches.filter(({ isReplay, retry, files }) => !isReplay && !retry && files.length > 0);
  return own.map(batch => ({ ...batch, delivered: true, lease: batch.lease ?? 'closed' }));
}

/** Tells whether a replay that the node was handed before answers this pull, too. */
export function isSameReplay(replay: Batch, { run, recordedRunId, acknowledges, heartbeats }: Pull, files: readonly number[]): boolean {
  if (!replay.isReplay || replay.build_subset_id !== recordedRunId) return false;
  if (replay.run === run) return true;
  // An earlier process of the node got it, and did not run or lose it. A process that sends heartbeats has a lease of its own.
  return acknowledges === true && !heartbeats && !replay.failed && !isRequeued(replay) && replay.files.length === files.length;
}

/** Returns 1 for each file of the queue that is handed out after these batches, applied in order, and 0 for the others. */
export function takenFiles(batches: Iterable<Batch>, fileCount: number): Uint8Array {
  const taken = new Uint8Array(fileCount);
  for (const batch of batches) {
    if (batch.retry) continue;
    // A replay takes nothing: its files may have been put back before.
    if (!batch.isReplay) for (const file of batch.files) taken[file] = 1;
    if (isRequeued(batch)) for (const file of movedFiles(batch)) taken[file] = 0;
  }
  return taken;
}

/** Counts the characters from clients in the batches of a queue. Test cases beyond the limit are not kept: their whole files run again. */
export class BatchText {
  /** The characters of uuids and test cases. */
  characters = 0;
  #ofCases = 0;

  add(batch: Batch): void {
    this.#count(batch, 1);
  }

  remove(batch: Batch): void {
    this.#count(batch, -1);
  }

  /** Sets the failures of an added batch. Their test cases are kept if there is room. */
  addFailed(batch: Batch, { failed, failed_cases: cases }: Failed): Batch {
    const keepsCases = cases && this.hasRoomFor(cases);
    this.remove(batch);
    batch.failed = failed;
    if (keepsCases) batch.failed_cases = cases;
    this.add(batch);
    return batch;
  }

  hasRoomFor(cases: CasesByFile): boolean {
    return this.#ofCases + charactersIn(cases) <= limits.failedCaseCharactersPerQueue;
  }

  #count({ batch_uuid, cases, failed_cases }: Batch, sign: 1 | -1): void {
    const ofCases = charactersIn(cases) + charactersIn(failed_cases);
    this.#ofCases += sign * ofCases;
    this.characters += sign * (ofCases + (batch_uuid?.length ?? 0));
  }
}

function charactersIn(cases: CasesByFile = []): number {
  return cases.reduce((sum, [, paths]) => paths.reduce((ofFile, { length }) => ofFile + length, sum), 0);
}

const DECISION_FIELDS = ['remaining', 'finish_in', 'speed', 'slowdown', 'share', 'target', 'pull_cost', 'hidden'] as const;
/** Each batch that is leased is asked for these two. */
const [SLOWDOWN, HIDDEN] = [DECISION_FIELDS.indexOf('slowdown'), DECISION_FIELDS.indexOf('hidden')];

/** A decision as it is stored: the fields in this order, in whole milliseconds, and in thousandths for the two ratios. */
export type KeptDecision = readonly number[];

/** The facts that size the next batch of a node: its speed, and the state of its queue. Times are weights (see weight.ts). */
export interface Situation extends PullSituation {
  /** The most that the batch may have, so that nodes that have yet to come find work. */
  most: number;
  /** `finish_in` of the answer. */
  finishIn: number;
  speed: number;
  slowdown: number;
  hidden: number;
}

/** @param target the weight that the batch was to have */
export function keepDecision(situation: Situation, target: number): KeptDecision {
  const { remaining, finishIn, speed, slowdown, share, pullCost, hidden } = situation;
  const values = [toSeconds(remaining), toSeconds(finishIn), speed, slowdown, ...[share, target, pullCost, hidden].map(toSeconds)];
  return values.map(value => Math.round(value * 1000));
}

/** Tells from the first decision of a queue whether the queue began with what earlier ones had learned. Without it, both values are exact. */
export function hadLearned({ slowdown, hidden }: Pick<Decision, 'slowdown' | 'hidden'>): boolean {
  return slowdown !== 1 || hidden !== 0;
}

/** After an outage or a jump of the clock, files seem to take any multiple of their estimates. */
const MAX_SLOWDOWN = 10;

/**
 * The time that so many files of this weight should have taken a node of usual speed, by what the queue had learned when it made the batch: no less
 * than the weight. With null the planner sized no batch, and only the weight is known.
 */
export function expectedWeight(decision: KeptDecision | null, files: number, weight: number): number {
  if (!decision) return weight;
  const { hidden, slowdown } = learnedBy(decision);
  return expectedTime(files, weight, { hidden: hidden * WEIGHTS_PER_SECOND, slowdown });
}

/** What the queue had learned when the planner made a decision. */
export function learnedBy(decision: KeptDecision): FileCost {
  return { hidden: decision[HIDDEN]! / 1000, slowdown: Math.min(MAX_SLOWDOWN, Math.max(1, decision[SLOWDOWN]! / 1000)) };
}

/** The decision behind a batch; null: the planner did not size it. */
export function decisionOf({ decision }: { decision: KeptDecision | null }): Decision | null {
  if (!decision) return null;
  return Object.fromEntries(DECISION_FIELDS.map((field, i) => [field, decision[i]! / 1000])) as unknown as Decision;
}
