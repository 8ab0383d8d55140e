import { type Saving, type Soon, whenKnown } from '../../base/soon.js';
import { fileOfPiece } from '../../protocol/piece-path.js';
import type { BatchSums } from '../planning/batching/batch-cost.js';
import { lastRunId, pathsNotRun, runsRecorded } from './builds.js';
import type { Caller } from './caller.js';
import type { NodeKey, QueueKey } from './keys.js';
import { beginningOf } from './moment.js';
import { pathsOfQueue } from './planned-files.js';
import type { ToldByNode } from './ports/ci-runs.js';
import type { Acknowledgement, Change, NewQueue, OpenQueue, QueueInfo, Queues, Verdict } from './ports/queues.js';
import type { Millis, Store } from './ports/store.js';
import { type Batch, type EndedLease, type KeptDecision, type Pull, RAN_UNTIMED } from './queue/batch.js';
import type { ExpectedEnd } from './queue/expected-end.js';
import { type Failed, failedIn, failedOf } from './queue/failed.js';
import { describeLists, differs, isOtherList, type SentList } from './suites/compare-lists.js';
import type { Planned } from './suites/plan-suite.js';

/** A request of a node for its next batch, in either version of the protocol. */
export interface QueueRequest {
  key: QueueKey;
  node_index: number;
  /** The digest of the node's list; undefined: its client sends none. */
  listDigest: string | undefined;
  /** The first request of the node's process: it may initialize the queue. */
  isFirstRequest: boolean;
  /** The request creates the queue or connects to it, and takes no batch. */
  takesNothing: boolean;
  /** The node starts with the files that it was handed in the last queue of the build. */
  wantsLastSplit: boolean;
  /** Distinguishes the processes of a node. */
  run: string;
  /** The same value requests the same batch again; null: the client sends none. */
  batch_uuid: string | null;
  /** The outcome of the previous batch; null: the client does not report it. */
  report: BatchReport | null;
  /** The test runner with which the client runs pieces of files; null: it runs none. */
  pieces: string | null;
  /** The client sends heartbeats while it works on a batch. */
  heartbeats: boolean;
  /** The client retries files that failed, on this node or another one. */
  retriesFailed: boolean;
  /** Null: the request is not the first one of a process, or its client tells nothing of itself. */
  told: ToldByNode | null;
}

/** A process of a node, which says that it lives. */
export type HeartbeatRequest = Pick<QueueRequest, 'key' | 'node_index' | 'run'>;

/** A process of a node that its CI system cancels, with the batch that it worked on, if it knows what passed of it. */
export type CancelRequest = HeartbeatRequest & { report: BatchReport };

export interface BatchReport {
  /** Null: there was no previous batch. */
  batch_id: number | null;
  /** Test files, or test cases in them; null: all files of the batch. */
  failed_paths: readonly string[] | null;
  /** Seconds of each path of the batch; 0: it was not measured; null: it ran, and had no time to measure. Missing: the client does not tell. */
  times?: readonly (number | null)[] | undefined;
}

export interface Pulled {
  queue: QueueInfo;
  /** Null: there is none for the node. */
  batch: Batch | null;
  /** The node lists other test files than the queue has, so it gets none of them. */
  isOtherList: boolean;
  /** The queue has pieces of files for a test runner with which the client runs none, so the node gets nothing. */
  lacksPieces: boolean;
  /** There is no batch, and the node should wait: for files of nodes that are at work, or for retries of its own. */
  standsBy: boolean;
  /** At the end of a node that retries files: those that failed on it, and passed in their retries. */
  passedAgain: number[];
  /** The node was taken for dead before this pull: see recordSilent. */
  wasRecorded: boolean;
  /** The leases that this pull ended: other nodes were silent, or a node came back or restarted. */
  endedLeases: LeaseEnd[];
  /** The batch was handed out now, not repeated. */
  isNewBatch: boolean;
  /** This request created the queue. */
  isNewQueue: boolean;
  /** Some node was cancelled, and a node begins: the CI run goes on. */
  isBack: boolean;
  /** At the end of a node: what the batches of all nodes that ended meanwhile cost; null: nothing new. */
  observed: BatchSums | null;
  /** When all nodes are expected to end, for a first request of a client that reports; null: otherwise, or unknown. */
  expectedEnd: ExpectedEnd | null;
  /** The decision behind the batch or, if the planner did not size it, behind the newest one that it did; null: there is none. */
  decision: KeptDecision | null;
}

/** The end of a lease. It is a copy, because the next pull may change the batch before this one is on disk. */
export interface LeaseEnd {
  seq: number;
  node_index: number;
  test_files: number;
  lease: EndedLease;
}

const NO_CHANGES: readonly Change[] = [];

/** A week: longer times are errors. */
const MOST_MILLISECONDS = 604_800_000;

/**
 * Takes the next batch of a node from its queue. Creates the queue first when the request plans one. A value of null: there is no queue.
 * For a client that has left, a queue stays as it is.
 */
export function pull(
  store: Store,
  request: QueueRequest,
  planned: Planned<NewQueue>,
  caller: Caller,
  at: Millis,
): Soon<Saving<Pulled | null>> {
  const asked: Asked = { request, sent: planned.sent, caller, at };
  // Nearly every request only pulls: without a plan, a list and a last split there is nothing to create or to note.
  if (!planned.plan && !planned.sent && !request.wantsLastSplit) return update(store, asked);
  return pullOrCreate(store, asked, planned.plan);
}

async function pullOrCreate(store: Store, asked: Asked, plan: NewQueue | null): Promise<Saving<Pulled | null>> {
  const { request, sent, at } = asked;
  const { key } = request;
  if (sent) await noteOtherList(store, key, sent);
  const pulled = await update(store, asked);
  if (pulled.value) return pulled;
  const isNewQueue = await create(store, request, plan, at);
  if (isNewQueue === null) return pulled;
  // Another node was faster, perhaps with another list.
  if (sent && !isNewQueue) await noteOtherList(store, key, sent);
  const first = await update(store, asked);
  if (first.value) first.value.isNewQueue = isNewQueue;
  return first;
}

function update(store: Store, asked: Asked): Soon<Saving<Pulled | null>> {
  const { request, at } = asked;
  return store.queues.update(
    request.key,
    open => factsFor(store, request, open),
    (open, facts, mayWait) => pullFrom(open, asked, facts, mayWait),
    at,
  );
}

/**
 * Notes that a process of a node is cancelled, and puts its files back into the queue. The value: whether anything of that is new; null: there is no
 * queue.
 */
export function cancel(store: Store, { key, node_index, run, report }: CancelRequest, at: Millis): Soon<Saving<boolean | null>> {
  const { batch_id: seq } = report;
  return store.queues.update(
    key,
    open => (seq === null ? null : failedFor(store, { node_index, batch_uuid: null, report }, open)),
    ({ queue }, failed) => {
      const batch = queue.cancel({ node_index, run }, failed && { seq: seq!, failed }, at);
      return { value: batch !== null, changes: batch ? [batch] : NO_CHANGES };
    },
    at,
  );
}

/** What a heartbeat of a node tells: the seconds after which its lease ends; null: it has none. False: its process has no batch. */
export type Heard = { leaseSeconds: number | null } | false;

/** Renews the lease of a node. The value of null: there is no queue. */
export function heartbeat(
  { queues }: Pick<Store, 'queues'>,
  { key, node_index, run }: HeartbeatRequest,
  at: Millis,
): Soon<Saving<Heard | null>> {
  return queues.update<null, Heard>(
    key,
    () => null,
    ({ queue }) => {
      const leaseSeconds = queue.heartbeat(node_index, run);
      const value = leaseSeconds !== false && { leaseSeconds };
      // Without a lease, another process may have handed out a batch that this one does not know.
      return value && leaseSeconds !== null ? { value, changes: NO_CHANGES, isNote: true } : { value, changes: NO_CHANGES };
    },
    at,
  );
}

/**
 * Notes whether the answer with a batch was written. Until then the batch may go to the same node again. Resolves when this and all earlier
 * changes of the queue are on disk.
 */
export function settle({ queues }: Pick<Store, 'queues'>, key: QueueKey, seq: number, isWritten: boolean, at: Millis): Soon<void> {
  const settled = queues.update(
    key,
    () => null,
    ({ queue }) => {
      if (isWritten) return { value: null, changes: queue.delivered(seq) ? [{ delivered_seq: seq }] : NO_CHANGES, isNote: true };
      return { value: null, changes: queue.undelivered(seq) ? [seq] : NO_CHANGES, isNote: true };
    },
    at,
  );
  return whenKnown(settled, ({ saved }) => saved ?? undefined);
}

/** The paths that clients reported as failed in a queue, and not as run without a failure since. */
export async function failedPaths(store: Store, { id, list }: Pick<QueueInfo, 'id' | 'list'>): Promise<string[]> {
  const failed = failedIn(await store.queues.batches(id));
  const paths = await pathsOfQueue(store, id, [...failed.keys()]);
  const fileAt = (i: number) => (list.pieces_for === undefined ? paths[i]! : fileOfPiece(paths[i]!));
  return [...new Set([...failed.values()].flatMap((cases, i) => cases ?? fileAt(i)))];
}

/** The batches of a queue in the order of `seq`: those that it handed out itself, and those copied from the queue that it repeats. */
export async function batchesOf(queues: Queues, id: string): Promise<{ own: Batch[]; copied: Batch[] }> {
  const copied = await queues.copiedBatches(id);
  const seqs = new Set(copied.map(({ seq }) => seq));
  return { own: (await queues.batches(id)).filter(({ seq }) => !seqs.has(seq)), copied };
}

/** Returns whether this call created the queue; null: the request plans none, and there is none to repeat. */
async function create(
  { queues }: Store,
  { key, wantsLastSplit }: QueueRequest,
  plan: NewQueue | null,
  at: Millis,
): Promise<boolean | null> {
  if (wantsLastSplit && (await queues.repeat(key, at))) return false;
  return plan && queues.create(key, plan, at);
}

async function noteOtherList({ queues }: Store, key: QueueKey, sent: SentList): Promise<void> {
  const queue = await queues.find(key);
  if (!queue || queue.other_list !== undefined || !differs(queue.list, sent)) return;
  await queues.noteOtherList(queue, describeLists('queue', queue.list, sent));
}

interface Asked {
  request: QueueRequest;
  sent: SentList | null;
  caller: Caller;
  at: Millis;
}

function pullFrom({ queue, info }: OpenQueue, { request, sent, caller, at }: Asked, facts: Facts, mayWait: boolean): Verdict<Pulled> {
  const { node_index, takesNothing, batch_uuid, report, listDigest } = request;
  const value: Pulled = {
    queue: info,
    batch: null,
    isOtherList: false,
    lacksPieces: false,
    standsBy: false,
    passedAgain: [],
    wasRecorded: false,
    endedLeases: [],
    isNewBatch: false,
    isNewQueue: false,
    isBack: false,
    observed: null,
    expectedEnd: null,
    decision: null,
  };
  // A request whose client has left says nothing about the node any more, not even that the node restarted.
  if (caller.hasLeft()) return { value, changes: NO_CHANGES, isNote: true };
  const changes: Change[] = [];
  if (isOtherList(info.list, listDigest, sent)) {
    value.isOtherList = true;
    return { value, changes };
  }
  if (info.list.pieces_for !== undefined && info.list.pieces_for !== request.pieces) {
    value.lacksPieces = true;
    return { value, changes };
  }
  if (!takesNothing) {
    const asked = toPull(request, info, facts, caller);
    if (mayWait && queue.lacksNote(asked)) return { value, changes, lacksNote: true };
    const acknowledged =
      report && facts.failed && queue.acknowledge({ node_index, batch_uuid }, report.batch_id!, facts.failed, report.times);
    if (acknowledged) changes.push(acknowledgementOf(acknowledged, report.times));
    const hadCancelled = request.isFirstRequest && queue.hasCancelled;
    if (facts.heard) queue.hear(facts.heard);
    const handed = queue.pull(asked, at);
    value.batch = handed?.batch ?? null;
    value.isNewBatch = handed?.isNew ?? false;
    value.wasRecorded = request.heartbeats && queue.hasReturned(request, value.batch);
    value.decision = handed && (handed.batch.decision ?? queue.newestDecision);
    value.isBack = hadCancelled && value.isNewBatch;
    if (!handed) {
      value.observed = queue.takeObserved();
      value.standsBy = request.heartbeats && queue.standsBy(node_index);
      if (request.retriesFailed && !value.standsBy) value.passedAgain = queue.passedAgain(node_index);
    } else if (request.isFirstRequest && report && handed.batch.decision) value.expectedEnd = queue.expectedEnd(at);
  } else if (!report) {
    // A client that reports pulls in the same process afterwards. For any other client this request is a restart.
    queue.restartNode(node_index);
  }
  for (const batch of queue.takeChanged()) {
    changes.push(batch);
    const { seq, files, lease } = batch;
    if (lease) value.endedLeases.push({ seq, node_index: batch.node_index, test_files: files.length, lease });
  }
  if (value.isNewBatch) changes.push(value.batch!);
  return { value, changes };
}

/** What a node told of a batch, with the times of its files if there is one for each. */
function acknowledgementOf({ seq, files, cases, failed, failed_cases }: Batch, seconds: BatchReport['times']): Acknowledgement {
  const told: Acknowledgement = { acknowledged_seq: seq, failed: failed! };
  if (failed_cases) told.failed_cases = failed_cases;
  if (seconds?.length === files.length && !cases)
    told.times = seconds.map(each => (each === null ? RAN_UNTIMED : Math.min(MOST_MILLISECONDS, Math.round(1000 * each))));
  return told;
}

function toPull(request: QueueRequest, info: QueueInfo, { runs_before, recordedRunId, notRun }: Facts, caller: Caller): Pull {
  const { node_index, run, batch_uuid, isFirstRequest, report } = request;
  const pulled: Pull = {
    node_index,
    run,
    batch_uuid,
    isRetry: caller.isRetry,
    hasLeft: caller.hasLeft,
    isFirstRequest,
    wantsLastSplit: request.wantsLastSplit || (isFirstRequest && !report && info.copied !== null),
    recordedRunId,
  };
  if (runs_before !== undefined) pulled.runs_before = runs_before;
  if (report) pulled.acknowledges = true;
  if (request.heartbeats) pulled.heartbeats = true;
  if (request.retriesFailed) pulled.retriesFailed = true;
  if (notRun) pulled.notRun = notRun;
  return pulled;
}

/** Facts from outside the queue that a pull needs. */
interface Facts {
  /** The number of runs of the build that were recorded before; undefined: the request is not the first. */
  runs_before?: number;
  recordedRunId: string | null;
  failed: Failed | null;
  notRun?: ReadonlySet<number>;
  /** The uptimes at which other processes heard of nodes, if some lease ends; missing: none does. */
  heard?: Iterable<readonly [node: number, at: number]>;
}

const NONE_FAILED: Failed = { failed: [] };
const NO_FACTS: Facts = { recordedRunId: null, failed: null };
const NO_FACTS_NONE_FAILED: Facts = { recordedRunId: null, failed: NONE_FAILED };

/** Gives the facts that a request needs. Nearly every one needs none: it is not the first, and reports no failure. */
function factsFor(store: Store, request: QueueRequest, open: OpenQueue): Soon<Facts> {
  const { report, isFirstRequest, takesNothing } = request;
  if (takesNothing) return NO_FACTS;
  if (isFirstRequest || (report && hasFailures(report)) || open.queue.areLeasesEnding) return readFacts(store, request, open);
  return report && report.batch_id !== null ? NO_FACTS_NONE_FAILED : NO_FACTS;
}

async function readFacts(store: Store, request: QueueRequest, open: OpenQueue): Promise<Facts> {
  const { id, queue, info } = open;
  const { key, node_index, report, isFirstRequest, wantsLastSplit } = request;
  const { project, build } = key;
  const node: NodeKey = { ...build, node_index };
  const failed = await failedFor(store, request, open);
  const heard = queue.areLeasesEnding ? await store.queues.heardElsewhere(id) : null;
  if (!isFirstRequest) return { recordedRunId: null, failed, ...(heard && { heard }) };
  const since = beginningOf(info);
  const runs_before = await runsRecorded(store.builds, project, build);
  const recordedRunId = wantsLastSplit || (!report && info.copied !== null) ? await lastRunId(store.builds, project, node, since) : null;
  const facts: Facts = { runs_before, recordedRunId, failed, ...(heard && { heard }) };
  const finished = report ? queue.filesOf(node_index) : [];
  const paths = finished.length === 0 ? null : await pathsNotRun(store.builds, project, node, since);
  if (paths && paths.size > 0) {
    const listed = await pathsOfQueue(store, id, finished);
    facts.notRun = new Set(finished.filter((_, i) => paths.has(listed[i]!)));
  }
  return facts;
}

/** The failures in the batch that the node reports on; null: it reports on none. */
async function failedFor(
  store: Store,
  { node_index, batch_uuid, report }: Pick<QueueRequest, 'node_index' | 'batch_uuid' | 'report'>,
  { id, queue }: OpenQueue,
): Promise<Failed | null> {
  if (!report || report.batch_id === null) return null;
  const batch = hasFailures(report) ? queue.batchOf({ node_index, batch_uuid }, report.batch_id) : null;
  return batch ? failedOf(batch, await pathsOfQueue(store, id, batch.files), report.failed_paths) : NONE_FAILED;
}

function hasFailures({ failed_paths }: BatchReport): boolean {
  return failed_paths === null || failed_paths.length > 0;
}
