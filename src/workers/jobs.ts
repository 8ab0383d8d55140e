import type { RawParameters } from '../api/messages/coerce.js';
import { queueRequest, recordingRequest, splitRequest, testQueueRequest } from '../api/requests.js';
import { type PlanOptions, planQueue, planSplit } from '../engine/plans.js';
import type { Store } from '../engine/ports/store.js';
import type { QueueRequest } from '../engine/queues.js';
import { toSegments } from '../engine/segments.js';
import { buildOutline, buildPiece } from './build-pieces.js';
import { completenessJson, distributionJson, failedPathsJson } from './reads.js';

/**
 * The work that grows with a suite. It reads the store and writes nothing, and runs on the main thread when it is small and in a
 * worker thread when it is large; so what it returns moves between threads as blocks of bytes.
 */

/** What a POST needs before anything is changed: validation and planning. Null: only a worker thread should do it. */
export const posts = {
  async prepareSubset(_store: Store, sent: RawParameters, _project: number, { isWorker }: PlanOptions) {
    const { node, run } = recordingRequest(sent);
    return { node, run: isWorker ? { ...run, paths: toSegments(run.paths as string[]) } : run };
  },
  async prepareSplit(store: Store, sent: RawParameters, project: number, options: PlanOptions) {
    const request = splitRequest(sent, project);
    const planned = await planSplit(store, request, options);
    return planned && { request: withoutPaths(request), planned };
  },
  prepareQueue(store: Store, sent: RawParameters, project: number, options: PlanOptions) {
    return plannedQueue(store, queueRequest(sent, project), null, options);
  },
  prepareTestQueue(store: Store, sent: RawParameters, project: number, options: PlanOptions) {
    const { request, echo } = testQueueRequest(sent, project);
    return plannedQueue(store, request, echo, options);
  },
};

/** Answers that are built from many records. */
export const reads = {
  buildOutline,
  buildPiece,
  completeness: completenessJson,
  recordedDistribution: distributionJson,
  failedTestPaths: failedPathsJson,
};

export type Posts = typeof posts;
export type Reads = typeof reads;

/** @param echo what the answer repeats of the request */
async function plannedQueue(store: Store, request: QueueRequest, echo: object | null, options: PlanOptions) {
  const planned = await planQueue(store, request, options);
  return planned && { request: withoutPaths(request), planned, echo };
}

/** A request that was planned needs its list no more, and a long list is not copied to another thread. */
function withoutPaths<Request extends { paths: readonly string[] | null }>(request: Request): Request {
  request.paths = null;
  return request;
}
