import { lastRunId, pathsNotRun, runsRecorded } from './builds.js';
import type { NodeKey } from './keys.js';
import { beginningOf } from './moment.js';
import { pathsOfQueue } from './planned-files.js';
import type { OpenQueue } from './ports/queues.js';
import type { Store } from './ports/store.js';
import { type Failed, failedOf } from './queue/failed.js';
import type { QueueRequest } from './queues.js';
import type { Soon } from './soon.js';

/** Facts from outside the queue that a pull needs. */
export interface Facts {
  /** How many runs of the build were recorded before; undefined: the request is not the first. */
  runs_before?: number;
  recordedSubset: string | null;
  failed: Failed | null;
  notRun?: ReadonlySet<number>;
}

const NONE_FAILED: Failed = { failed: [] };
const NO_FACTS: Facts = { recordedSubset: null, failed: null };
const NO_FACTS_NONE_FAILED: Facts = { recordedSubset: null, failed: NONE_FAILED };

/** Gives the facts that a request needs. Nearly every one needs none: it is not the first, and reports no failure. */
export function factsFor(store: Store, request: QueueRequest, open: OpenQueue): Soon<Facts> {
  const { report, isFirstRequest, takesNothing } = request;
  if (takesNothing) return NO_FACTS;
  if (isFirstRequest || (report && report.failed_paths.length > 0)) return readFacts(store, request, open);
  return report && report.batch_id !== null ? NO_FACTS_NONE_FAILED : NO_FACTS;
}

async function readFacts(store: Store, request: QueueRequest, open: OpenQueue): Promise<Facts> {
  const { id, queue, info } = open;
  const { key, node_index, report, isFirstRequest, wantsLastSplit } = request;
  const { project, build } = key;
  const node: NodeKey = { ...build, node_index };
  const failed = await failedFor(store, request, open);
  if (!isFirstRequest) return { recordedSubset: null, failed };
  const since = beginningOf(info);
  const runs_before = await runsRecorded(store.builds, project, build);
  const recordedSubset = wantsLastSplit || (!report && info.copied !== null) ? await lastRunId(store.builds, project, node, since) : null;
  if (!report) return { runs_before, recordedSubset, failed };
  const finished = queue.filesOf(node_index);
  const paths = finished.length === 0 ? null : await pathsNotRun(store.builds, project, node, since);
  if (!paths || paths.size === 0) return { runs_before, recordedSubset, failed };
  const listed = await pathsOfQueue(store, id, finished);
  return { runs_before, recordedSubset, failed, notRun: new Set(finished.filter((_, i) => paths.has(listed[i]!))) };
}

/** The failures in the batch that the node reports on; null: it reports on none. */
async function failedFor(store: Store, { node_index, batch_uuid, report }: QueueRequest, { id, queue }: OpenQueue): Promise<Failed | null> {
  if (!report || report.batch_id === null) return null;
  const batch = report.failed_paths.length === 0 ? null : queue.batchOf({ node_index, batch_uuid }, report.batch_id);
  return batch ? failedOf(batch, await pathsOfQueue(store, id, batch.files), report.failed_paths) : NONE_FAILED;
}
