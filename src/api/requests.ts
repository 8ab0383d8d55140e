import { sharedMemory } from '../bytes.js';
import { digest } from '../engine/digest.js';
import type { PlanSubject } from '../engine/insight/what-if/prepare-plan.js';
import { type NodeKey, queueKey, splitKey } from '../engine/keys.js';
import type { NewRun } from '../engine/ports/recordings.js';
import type { QueueRequest } from '../engine/queues.js';
import { newRun } from '../engine/recordings.js';
import type { SplitRequest } from '../engine/splits.js';
import type { ListName } from '../engine/suites/list-in-body.js';
import { type Suite, suiteOf } from '../engine/suites/suite.js';
import { limits } from '../limits.js';
import { toBuildSubsetMessage } from './messages/build-subset.js';
import type { RawParameters } from './messages/coerce.js';
import { toPlanMessage } from './messages/insight/what-if.js';
import { isInitialization, toQueueMessage } from './messages/queue.js';
import { toSplitMessage } from './messages/split.js';
import { toTestQueueMessage } from './messages/test-queue.js';

/**
 * Converts messages of clients to requests to the use cases, and the suites that they list. Each function throws a 422 when the message is
 * invalid. A suite that is known stands for the list of the message.
 */

export interface RecordingAsked {
  node: NodeKey;
  run: NewRun;
}

export interface SplitAsked {
  request: SplitRequest;
}

export interface QueueAsked {
  request: QueueRequest;
  /** The fields of the request that the answer repeats. */
  echo: object | null;
}

export type PlanAsked = PlanSubject;

/** POST /v1/build_subsets */
export function toRecording(sent: RawParameters): { asked: RecordingAsked; suite: null } {
  const { test_files, commit_hash, branch, node_total, node_index, ci_build_id } = toBuildSubsetMessage(sent);
  const node = { commit_hash, branch, node_total, node_index };
  return { asked: { node, run: newRun(test_files, ci_build_id || undefined) }, suite: null };
}

/** POST /v1/build_distributions/subset */
export function toSplit(sent: RawParameters, project: number, known: Suite | null): { asked: SplitAsked; suite: Suite | null } {
  const message = toSplitMessage(withFirst(sent, 'test_files', known));
  const { commit_hash, branch, node_total, node_index, ci_build_id, fixed_test_suite_split, cache_read_attempt, test_files = [] } = message;
  const request: SplitRequest = {
    key: splitKey(project, { commit_hash, branch, node_total }, ci_build_id, fixed_test_suite_split),
    node_index,
    listDigest: message.test_files_digest,
  };
  return { asked: { request }, suite: cache_read_attempt ? null : (known ?? suiteOfList(test_files.map(({ path }) => path))) };
}

/** POST /v1/plan */
export function toPlan(sent: RawParameters, project: number, known: Suite | null): { asked: PlanAsked; suite: Suite | null } {
  const { branch, mode, nodes, within, start_spread, pull_cost, test_files } = toPlanMessage(withFirst(sent, 'test_files', known));
  const [startSpread, pullCost] = [start_spread ?? null, pull_cost ?? null];
  const asked = { project, branch, mode, nodes, within: within ?? null, startSpread, pullCost };
  return { asked, suite: test_files ? (known ?? suiteOfList(test_files.map(({ path }) => path))) : null };
}

/** POST /v1/queues/queue */
export function toQueue(sent: RawParameters, project: number, known: Suite | null): { asked: QueueAsked; suite: Suite | null } {
  const message = toQueueMessage(withFirst(sent, 'test_files', known));
  const { commit_hash, branch, node_total, node_index, node_build_id, can_initialize_queue: isFirstRequest, batch_uuid = null } = message;
  const key = queueKey(project, { commit_hash, branch, node_total }, node_build_id);
  const request: QueueRequest = {
    key,
    node_index,
    listDigest: undefined,
    isFirstRequest,
    // A later pull without a batch would look like the end of the queue.
    takesNothing: message.skip_pull && isFirstRequest,
    wantsLastSplit: message.fixed_queue_split && isFirstRequest,
    run: key.digest,
    batch_uuid,
    report: null,
  };
  const suite = isInitialization(message) ? (known ?? suiteOfList(message.test_files!.map(({ path }) => path))) : null;
  return { asked: { request, echo: null }, suite };
}

/** POST /v2/queues/queue */
export function toTestQueue(sent: RawParameters, project: number, known: Suite | null): { asked: QueueAsked; suite: Suite | null } {
  const message = toTestQueueMessage(withFirst(sent, 'paths', known));
  const { commit_hash, branch, node_total, node_index, test_queue_id, can_initialize_queue: isFirstRequest } = message;
  const { node_uuid, batch_index } = message;
  const run = digest(node_uuid);
  const request: QueueRequest = {
    key: queueKey(project, { commit_hash, branch, node_total }, test_queue_id),
    node_index,
    listDigest: message.test_files_digest,
    isFirstRequest,
    takesNothing: message.skip_pull === true && isFirstRequest,
    wantsLastSplit: false,
    run,
    batch_uuid: `${run} ${batch_index}`,
    report: { batch_id: message.batch_id ?? null, failed_paths: message.failed_paths ?? [] },
  };
  const suite = isInitialization(message) ? (known ?? suiteOfList(message.paths!)) : null;
  return { asked: { request, echo: message.wants_times ? { node_uuid, batch_index } : null }, suite };
}

/** The parameters with the first entry of a known list in place of all, which were valid when they were sent before. */
function withFirst(sent: RawParameters, name: ListName, known: Suite | null): RawParameters {
  if (!known) return sent;
  const path = known.at(0);
  return { ...sent, [name]: name === 'paths' ? [path] : [{ path }] };
}

function suiteOfList(paths: readonly string[]): Suite {
  // Threads share large suites.
  return paths.length < limits.pooledTestFiles ? suiteOf(paths) : suiteOf(paths, sharedMemory);
}
