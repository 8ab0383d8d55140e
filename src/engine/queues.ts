import type { NodeKey } from './build-key.js';
import { lastRunId, pathsWithoutTime, runsRecorded } from './builds.js';
import type { QueueKey } from './keys.js';
import { beginningOf } from './moment.js';
import { type Planned, pathsOfQueue, type Suite } from './plans.js';
import type { Change, NewQueue, OpenQueue, QueueInfo, Verdict } from './ports/queues.js';
import type { Millis, Soon, Store } from './ports/store.js';
import type { Batch } from './queue/batch.js';
import { type Failed, failedIn, failedOf } from './queue/failed.js';
import { describeLists, differs, isOtherList, type SentList } from './test-file-list.js';

/** A request of a node for its next batch, in either version of the protocol. */
export interface QueueRequest {
  key: QueueKey;
  node_index: number;
  /** Null: the request brings no list of test files. */
  suite: Suite | null;
  /** The digest of the node's list; undefined: its client sends none. */
  listDigest: string | undefined;
  /** The first request of the node's process: it may initialize the queue. */
  isFirstRequest: boolean;
  /** It isInitialization or connects, and takes no batch. */
  takesNothing: boolean;
  /** It starts with what its node was handed in the last queue of the build. */
  wantsLastSplit: boolean;
  /** Tells the processes of a node apart. */
  run: string;
  /** The same again asks for the same batch again; null: the client cannot say so. */
  batch_uuid: string | null;
  /** What became of the batch before; null: the client does not report. */
  report: BatchReport | null;
}

export interface BatchReport {
  /** Null: there was no batch before. */
  batch_id: number | null;
  /** Test files, or test cases in them. */
  failed_paths: readonly string[];
}

/** The connection that a request came on. */
export interface Caller {
  /** The client says that it sent this request before. */
  isRetry: boolean;
  /** Whether the client has closed the connection. */
  hasLeft: () => boolean;
}

export interface Pulled {
  queue: QueueInfo;
  /** Null: there is none for the node. */
  batch: Batch | null;
  /** The node lists other test files than the queue has, so it gets none of them. */
  isOtherList: boolean;
  /** Batches that this pull took from other nodes or gave back, because nodes were silent or restarted. */
  changed: readonly Batch[];
  /** The batch was handed out now, not repeated. */
  isNewBatch: boolean;
  /** This request created the queue. */
  isNewQueue: boolean;
}

/** Takes the next batch of a node from its queue; the queue is created first when the request plans one. Null: there is no queue. */
export async function pull(
  store: Store,
  request: QueueRequest,
  { plan, sent }: Planned<NewQueue>,
  caller: Caller,
  at: Millis,
): Promise<Pulled | null> {
  const { key } = request;
  const update = () =>
    store.queues.update(
      key,
      open => factsFor(store, request, open),
      (open, facts) => pullFrom(open, request, sent, facts, caller, at),
      at,
    );
  if (sent) await noteOtherList(store, key, sent);
  const pulled = await update();
  if (pulled) return pulled;
  const isNewQueue = await create(store, request, plan, at);
  if (isNewQueue === null) return null;
  // Another node was faster, perhaps with another list.
  if (sent && !isNewQueue) await noteOtherList(store, key, sent);
  const first = await update();
  return first && { ...first, isNewQueue };
}

/** Notes whether the answer with a batch was written. Until then the batch may go to the same node again. */
export async function settle({ queues }: Store, key: QueueKey, seq: number, isWritten: boolean, at: Millis): Promise<void> {
  await queues.update(
    key,
    () => null,
    ({ queue }) => {
      const change = isWritten ? queue.delivered(seq) : queue.undelivered(seq) ? seq : null;
      return { value: null, changes: change === null ? [] : [change] };
    },
    at,
  );
}

/** The paths that failed in a queue and have not been run without a failure since, as far as its clients reported that. */
export async function failedPaths(store: Store, queue: string): Promise<string[]> {
  const failed = failedIn(await store.queues.batches(queue));
  const paths = await pathsOfQueue(store, queue, [...failed.keys()]);
  return [...failed.values()].flatMap((cases, i) => cases ?? paths[i]!);
}

/** Whether this call created the queue; null: the request plans none, and there is none to repeat. */
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

/** What a pull has to know from elsewhere. */
interface Facts {
  /** How many runs of the build were recorded before; undefined: the request is not the first. */
  runs_before?: number;
  recordedSubset: string | null;
  failed: Failed | null;
  unmeasured?: ReadonlySet<number>;
}

const NONE_FAILED: Failed = { failed: [] };
const NO_FACTS: Facts = { recordedSubset: null, failed: null };
const NO_FACTS_NONE_FAILED: Facts = { recordedSubset: null, failed: NONE_FAILED };

/** Nearly every request needs none: it is not the first, and reports no failure. */
function factsFor(store: Store, request: QueueRequest, open: OpenQueue): Soon<Facts> {
  const { report, isFirstRequest, takesNothing } = request;
  if (takesNothing) return NO_FACTS;
  if (isFirstRequest || (report && report.failed_paths.length > 0)) return readFacts(store, request, open);
  return report && report.batch_id !== null ? NO_FACTS_NONE_FAILED : NO_FACTS;
}

async function readFacts(store: Store, request: QueueRequest, { id, queue, info }: OpenQueue): Promise<Facts> {
  const { key, node_index, report, isFirstRequest, wantsLastSplit } = request;
  const { project, build } = key;
  const node: NodeKey = { ...build, node_index };
  const failed = await failedFor(store, request, { id, queue, info });
  if (!isFirstRequest) return { recordedSubset: null, failed };
  const since = beginningOf(info);
  const runs_before = await runsRecorded(store.builds, project, build);
  const recordedSubset = wantsLastSplit || (!report && info.repeats) ? await lastRunId(store.builds, project, node, since) : null;
  if (!report) return { runs_before, recordedSubset, failed };
  const finished = queue.filesOf(node_index);
  const paths = finished.length === 0 ? null : await pathsWithoutTime(store.builds, project, node, since);
  if (!paths || paths.size === 0) return { runs_before, recordedSubset, failed };
  const listed = await pathsOfQueue(store, id, finished);
  return { runs_before, recordedSubset, failed, unmeasured: new Set(finished.filter((_, i) => paths.has(listed[i]!))) };
}

/** What failed in the batch that the node reports on; null: it reports on none. */
async function failedFor(store: Store, { node_index, batch_uuid, report }: QueueRequest, { id, queue }: OpenQueue): Promise<Failed | null> {
  if (!report || report.batch_id === null) return null;
  const batch = report.failed_paths.length === 0 ? null : queue.batchOf({ node_index, batch_uuid }, report.batch_id);
  return batch ? failedOf(batch, await pathsOfQueue(store, id, batch.files), report.failed_paths) : NONE_FAILED;
}

function pullFrom(
  { queue, info }: OpenQueue,
  request: QueueRequest,
  sent: SentList | null,
  { runs_before, recordedSubset, failed, unmeasured }: Facts,
  { isRetry, hasLeft }: Caller,
  at: Millis,
): Verdict<Pulled> {
  const { node_index, isFirstRequest, takesNothing, run, batch_uuid, report, listDigest: digest } = request;
  const nothing: Pulled = { queue: info, batch: null, isOtherList: false, changed: [], isNewBatch: false, isNewQueue: false };
  if (isOtherList(info.list, { digest, sent, isFirstRequest })) return { value: { ...nothing, isOtherList: true }, changes: [] };
  if (takesNothing) {
    // A client that reports pulls with the same process afterwards; another one starts it anew.
    if (!report) queue.restartNode(node_index);
    const changed = queue.takeChanged();
    return { value: { ...nothing, changed }, changes: changed };
  }
  const acknowledged = failed && report ? queue.acknowledge({ node_index, batch_uuid }, report.batch_id!, failed) : null;
  const wantsLastSplit = request.wantsLastSplit || (isFirstRequest && !report && info.repeats);
  const handed = queue.pull(
    {
      node_index,
      run,
      batch_uuid,
      isRetry,
      hasLeft,
      isFirstRequest,
      wantsLastSplit,
      recordedSubset,
      ...(runs_before !== undefined && { runs_before }),
      ...(report && { acknowledges: true as const }),
      ...(unmeasured && { unmeasured }),
    },
    at,
  );
  const changed = queue.takeChanged();
  const changes: Change[] = acknowledged ? [acknowledged, ...changed] : [...changed];
  if (handed?.isNew) changes.push(handed.batch);
  return { value: { ...nothing, batch: handed?.batch ?? null, changed, isNewBatch: handed?.isNew ?? false }, changes };
}
