import type { RawParameters } from '../api/messages/coerce.js';
import { planSubject, queueRequest, recordingRequest, splitRequest, testQueueRequest } from '../api/requests.js';
import { type PreparedPlan, preparePlan } from '../engine/insight/what-if/prepare-plan.js';
import { prepareWhatIf } from '../engine/insight/what-if/prepare-what-if.js';
import { playVariants, type Scenario } from '../engine/insight/what-if/scenario.js';
import { type LongFile, playCuts } from '../engine/insight/what-if/what-if.js';
import { NOTHING_PLANNED, type Planned, type PlanOptions, planQueue, planSplit } from '../engine/plans.js';
import type { NewQueue } from '../engine/ports/queues.js';
import type { NewSplit } from '../engine/ports/splits.js';
import type { Store } from '../engine/ports/store.js';
import type { QueueRequest } from '../engine/queues.js';
import { toSegments } from '../engine/segments.js';
import type { Soon } from '../engine/soon.js';
import type { SplitRequest } from '../engine/splits.js';
import type { PathList } from '../planning/paths/path-list.js';
import { buildOutline, buildPiece } from './build-pieces.js';
import { insightReads } from './insight-reads.js';
import { completenessJson, distributionJson, failedPathsJson } from './reads.js';
import { buildSummary, fileHistoryJson, fileTrendsJson, nodeTrendsJson } from './trend-reads.js';

/**
 * The work whose size depends on the suite. It only reads the store. It runs on the main thread when it is small, and in a worker
 * thread when it is large, so its results move between threads as blocks of bytes.
 */

export interface PreparedSplit {
  request: SplitRequest;
  planned: Planned<NewSplit>;
}

export interface PreparedQueue {
  request: QueueRequest;
  planned: Planned<NewQueue>;
  /** The fields of the request that the answer repeats. */
  echo: object | null;
}

/** Validates and plans a POST before anything is changed. Null: only a worker thread should do it. */
export const posts = {
  prepareSubset(_store: Store, sent: RawParameters, _project: number, { isWorker }: PlanOptions) {
    const { node, run } = recordingRequest(sent);
    if (!isWorker) return { node, run };
    return { node, run: { ...run, paths: toSegments(run.paths as string[]), seconds: Float64Array.from(run.seconds) } };
  },
  prepareSplit(store: Store, sent: RawParameters, project: number, options: PlanOptions): Soon<PreparedSplit | null> {
    const request = splitRequest(sent, project);
    return request.suite ? splitPlan(store, request, request.suite, options) : { request, planned: NOTHING_PLANNED };
  },
  prepareQueue(store: Store, sent: RawParameters, project: number, options: PlanOptions): Soon<PreparedQueue | null> {
    const request = queueRequest(sent, project);
    return request.suite ? queuePlan(store, request, request.suite, null, options) : { request, planned: NOTHING_PLANNED, echo: null };
  },
  preparePlan(store: Store, sent: RawParameters, project: number, { isWorker, pullCost }: PlanOptions): Soon<PreparedPlan | null> {
    const subject = planSubject(sent, project, pullCost);
    return isWorker ? preparePlan(store, subject) : null;
  },
  prepareTestQueue(store: Store, sent: RawParameters, project: number, options: PlanOptions): Soon<PreparedQueue | null> {
    const { request, echo } = testQueueRequest(sent, project);
    return request.suite ? queuePlan(store, request, request.suite, echo, options) : { request, planned: NOTHING_PLANNED, echo };
  },
};

// A planned request needs no list, and the list would be copied between threads.
async function splitPlan(store: Store, request: SplitRequest, suite: PathList, options: PlanOptions): Promise<PreparedSplit | null> {
  const planned = await planSplit(store, request.key, suite, options);
  return planned && { request: { ...request, suite: null }, planned };
}

async function queuePlan(
  store: Store,
  request: QueueRequest,
  suite: PathList,
  echo: object | null,
  options: PlanOptions,
): Promise<PreparedQueue | null> {
  const planned = await planQueue(store, request.key, suite, request.wantsLastSplit, options);
  return planned && { request: { ...request, suite: null }, planned, echo };
}

/** Answers that are built from many records, and simulations. */
export const reads = {
  prepareWhatIf,
  playVariants: (_store: Store, { scenario, nodes }: { scenario: Scenario; nodes: readonly number[] }) => playVariants(scenario, nodes),
  playCuts: (_store: Store, { scenario, nodes, files }: { scenario: Scenario; nodes: number; files: readonly LongFile[] }) =>
    playCuts(scenario, nodes, files),
  buildOutline,
  buildPiece,
  completeness: completenessJson,
  recordedDistribution: distributionJson,
  failedTestPaths: failedPathsJson,
  ...insightReads,
  buildSummary,
  fileTrends: fileTrendsJson,
  fileHistory: fileHistoryJson,
  nodeTrends: nodeTrendsJson,
};

export type Posts = typeof posts;
export type Reads = typeof reads;
