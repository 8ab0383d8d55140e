import { apiErrors } from '../api-error.js';
import { limits } from '../limits.js';
import { simulateQueue } from '../planning/batching/simulate-queue.js';
import { type Estimates, estimate, QUEUE_PERCENTILE, SPLIT_PERCENTILE } from '../planning/estimating/estimate.js';
import { encodeBasis } from '../planning/estimating/plan-basis.js';
import { forecast, unknownFiles } from '../planning/forecasting/forecast.js';
import { pack } from '../planning/packing/pack.js';
import type { PathList } from '../planning/paths/path-list.js';
import type { BuildKey } from './build-key.js';
import type { QueueKey, SplitKey } from './keys.js';
import { describeDifference, listDifference } from './list-difference.js';
import type { NewQueue } from './ports/queues.js';
import type { NewSplit, Split } from './ports/splits.js';
import type { Store } from './ports/store.js';
import type { PlannedTestFile } from './test-file.js';
import type { SentList, TestFileList } from './test-file-list.js';

/** The plan of a split or queue, made before anything is changed. Planning may take long: it runs in any thread and writes nothing. */
export interface Planned<Plan> {
  /** What to create; null: nothing, as the request brings no list or the split or queue exists. */
  plan: Plan | null;
  /** Null: the request brings no list. */
  sent: SentList | null;
}

export const NOTHING_PLANNED: Planned<never> = { plan: null, sent: null };

export interface PlanOptions {
  /** This is a worker thread, where large suites delay no other request. */
  isWorker: boolean;
  /** The time that a node loses between two batches of a queue, as a weight. */
  pullCost: number;
}

/** Plans a split. Null: only a worker thread should do that. */
export async function planSplit(store: Store, key: SplitKey, paths: PathList, options: PlanOptions): Promise<Planned<NewSplit> | null> {
  const { isWorker } = options;
  const split = await store.splits.find(key);
  if (split) return compareLists('split', split.list, paths, isWorker, () => pathsOfSplit(store, split));
  const list = listOf(paths);
  const files = await estimates(store, key, paths, SPLIT_PERCENTILE, options);
  if (!files) return null;
  const { node_total } = key.build;
  const packing = pack(files.weights, node_total);
  const plan = {
    list,
    files: store.splits.encode(files, packing.nodes),
    basis: encodeBasis(files, packing.nodes),
    forecast: forecast(files, node_total, packing),
  };
  return { plan, sent: { ...list, difference: null } };
}

/**
 * Plans a queue. Null: only a worker thread should do that.
 * @param repeatsNewest a queue that does not exist yet repeats the newest one of the build, if there is one
 */
export async function planQueue(
  store: Store,
  key: QueueKey,
  paths: PathList,
  repeatsNewest: boolean,
  options: PlanOptions,
): Promise<Planned<NewQueue> | null> {
  const { isWorker, pullCost } = options;
  const queue = (await store.queues.find(key)) ?? (repeatsNewest ? await store.queues.newest(key.project, key.build) : null);
  if (queue) return compareLists('queue', queue.list, paths, isWorker, () => pathsOfQueue(store, queue.id));
  const list = listOf(paths);
  const files = await estimates(store, key, paths, QUEUE_PERCENTILE, options);
  if (!files) return null;
  const { weights, seconds } = files;
  const { node_total: nodeTotal } = key.build;
  const isGuessed = unknownFiles(seconds) > seconds.length / 2;
  const expectation = simulateQueue(weights, { nodeTotal, pullCost, isGuessed });
  const plan = {
    list,
    files: store.queues.encode(files),
    basis: encodeBasis(files),
    weights,
    guessed: isGuessed,
    forecast: forecast(files, nodeTotal, expectation),
  };
  return { plan, sent: { ...list, difference: null } };
}

async function estimates(
  { timings }: Store,
  { project, build }: { project: number; build: BuildKey },
  list: PathList,
  percentile: number,
  { isWorker }: PlanOptions,
): Promise<Estimates | null> {
  if (!isWorker && list.length >= limits.pooledTestFiles) return null;
  const { branch } = build;
  const mostCases = isWorker ? limits.testCasesPerRequest : limits.testCasesOnMainThread;
  const times = await timings.estimates(project, branch, list, mostCases);
  return times.isComplete || isWorker ? estimate(list, times, percentile) : null;
}

/** Compares the list of a node with that of the existing split or queue. */
async function compareLists(
  plan: 'split' | 'queue',
  list: TestFileList,
  paths: PathList,
  isWorker: boolean,
  planned: () => Promise<string[]>,
): Promise<Planned<never> | null> {
  const sent = listOf(paths);
  if (list.digest === sent.digest) return { plan: null, sent: { ...sent, difference: null } };
  if (!isWorker && list.test_files >= limits.pooledTestFiles) return null;
  const difference = listDifference(await planned(), paths.strings());
  const isSame = difference.onlyPlanned.length + difference.onlyListed.length === 0;
  return { plan: null, sent: { ...sent, difference: isSame ? null : describeDifference(plan, difference) } };
}

function listOf({ columns: { digest }, length }: PathList): TestFileList {
  return { digest, test_files: length };
}

/** Decodes the test files of a split or queue. */
export function decodeFiles(files: Buffer): PlannedTestFile[] {
  return JSON.parse(files.toString()) as PlannedTestFile[];
}

/** The paths of each node, slowest first. Throws a 503 when the split expired. */
export async function* pathsByNode({ splits }: Store, split: Split): AsyncGenerator<{ node_index: number; paths: string[] }> {
  for (let node_index = 0; node_index < split.node_total; node_index++) {
    const files = await splits.files(split, node_index);
    if (!files) throw apiErrors.expired('split');
    yield { node_index, paths: decodeFiles(files).map(({ path }) => path) };
  }
}

async function pathsOfSplit(store: Store, split: Split): Promise<string[]> {
  const all: string[] = [];
  for await (const { paths } of pathsByNode(store, split)) for (const path of paths) all.push(path);
  return all;
}

/** The paths of a queue, or of some of its files, in their order. */
export async function pathsOfQueue({ queues }: Store, queue: string, files?: readonly number[]): Promise<string[]> {
  const indices = files ?? Array.from({ length: await queues.size(queue) }, (_, file) => file);
  return indices.length === 0 ? [] : decodeFiles(await queues.files(queue, indices)).map(({ path }) => path);
}
