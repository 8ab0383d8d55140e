import type { NodeKey } from '../engine/build-key.js';
import { digest } from '../engine/digest.js';
import type { PlanSubject } from '../engine/insight/what-if/prepare-plan.js';
import { queueKey, splitKey } from '../engine/keys.js';
import { listedPaths } from '../engine/listed-paths.js';
import type { NewRun } from '../engine/ports/recordings.js';
import type { QueueRequest } from '../engine/queues.js';
import { newRun } from '../engine/recordings.js';
import type { SplitRequest } from '../engine/splits.js';
import { toBuildSubsetMessage } from './messages/build-subset.js';
import type { RawParameters } from './messages/coerce.js';
import { toPlanMessage } from './messages/insight/what-if.js';
import { isInitialization, toQueueMessage } from './messages/queue.js';
import { toSplitMessage } from './messages/split.js';
import { toTestQueueMessage } from './messages/test-queue.js';

/** Converts messages of clients to requests to the use cases. Each function throws a 422 when the message is invalid. */

export function recordingRequest(sent: RawParameters): { node: NodeKey; run: NewRun } {
  const { test_files, commit_hash, branch, node_total, node_index, ci_build_id } = toBuildSubsetMessage(sent);
  return { node: { commit_hash, branch, node_total, node_index }, run: newRun(test_files, ci_build_id || undefined) };
}

export function splitRequest(sent: RawParameters, project: number): SplitRequest {
  const message = toSplitMessage(sent);
  const { commit_hash, branch, node_total, node_index, ci_build_id, fixed_test_suite_split, cache_read_attempt, test_files = [] } = message;
  return {
    key: splitKey(project, { commit_hash, branch, node_total }, ci_build_id, fixed_test_suite_split),
    node_index,
    suite: cache_read_attempt ? null : listedPaths(test_files),
    listDigest: message.test_files_digest,
  };
}

/** POST /v1/plan. @param expectedPullCost the setting of the server, as a weight */
export function planSubject(sent: RawParameters, project: number, expectedPullCost: number): PlanSubject {
  const { branch, mode, nodes, within, start_spread, pull_cost, test_files } = toPlanMessage(sent);
  return {
    project,
    branch,
    mode,
    nodes,
    within: within ?? null,
    startSpread: start_spread ?? null,
    pullCost: pull_cost ?? null,
    paths: test_files ? listedPaths(test_files) : null,
    expectedPullCost,
  };
}

/** POST /v1/queues/queue */
export function queueRequest(sent: RawParameters, project: number): QueueRequest {
  const message = toQueueMessage(sent);
  const { commit_hash, branch, node_total, node_index, node_build_id, can_initialize_queue: isFirstRequest, batch_uuid = null } = message;
  const key = queueKey(project, { commit_hash, branch, node_total }, node_build_id);
  return {
    key,
    node_index,
    suite: isInitialization(message) ? listedPaths(message.test_files ?? []) : null,
    listDigest: undefined,
    isFirstRequest,
    // A later pull without a batch would look like the end of the queue.
    takesNothing: message.skip_pull && isFirstRequest,
    wantsLastSplit: message.fixed_queue_split && isFirstRequest,
    run: key.digest,
    batch_uuid,
    report: null,
  };
}

/** POST /v2/queues/queue: the request, and the fields that the answer repeats if the client wants times. */
export function testQueueRequest(sent: RawParameters, project: number): { request: QueueRequest; echo: object | null } {
  const message = toTestQueueMessage(sent);
  const { commit_hash, branch, node_total, node_index, test_queue_id, can_initialize_queue: isFirstRequest } = message;
  const { node_uuid, batch_index } = message;
  const run = digest(node_uuid);
  const request: QueueRequest = {
    key: queueKey(project, { commit_hash, branch, node_total }, test_queue_id),
    node_index,
    suite: isInitialization(message) ? listedPaths(message.paths ?? []) : null,
    listDigest: message.test_files_digest,
    isFirstRequest,
    takesNothing: message.skip_pull === true && isFirstRequest,
    wantsLastSplit: false,
    run,
    batch_uuid: `${run} ${batch_index}`,
    report: { batch_id: message.batch_id ?? null, failed_paths: message.failed_paths ?? [] },
  };
  return { request, echo: message.wants_times ? { node_uuid, batch_index } : null };
}
