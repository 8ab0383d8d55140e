import type { Soon } from '../../../base/soon.js';
import { fileOfPiece, pieceOf } from '../../../protocol/piece-path.js';
import { type BatchCost, type BatchSums, expectedCost, withHidden } from '../../planning/batching/batch-cost.js';
import { allFirst, chooseFirst, type FirstFiles, type FirstOptions, mayHaveFirst } from '../../planning/batching/first-files.js';
import { simulateQueue } from '../../planning/batching/simulate-queue.js';
import { encodeBasis } from '../../planning/estimating/basis.js';
import { type Estimates, estimate, isMostlyGuessed, type Mode } from '../../planning/estimating/estimate.js';
import { forecast } from '../../planning/forecasting/forecast.js';
import { pack } from '../../planning/packing/pack.js';
import { totalWeight } from '../../planning/weight.js';
import type { BuildKey, QueueKey, SplitKey } from '../keys.js';
import { encodeCuts } from '../pieces/cuts.js';
import { pathsOfQueue, pathsOfSplit } from '../planned-files.js';
import type { NewQueue, QueueInfo } from '../ports/queues.js';
import type { NewSplit } from '../ports/splits.js';
import type { Millis, Store } from '../ports/store.js';
import { isPublicSide, ownerOf } from '../public-side/side.js';
import { differenceOf, type SentList, type TestFileList } from './compare-lists.js';
import { savedSeconds, withPieces, worthCutting } from './cut-suite.js';
import { recentFailures } from './recent-failures.js';
import type { Suite } from './suite.js';
import { type AskedProved, unprovedFiles } from './unproved-files.js';

/** Requests with at least this many test files are handled by a worker thread. */
export const POOLED_TEST_FILES = 1000;
/** Test cases that are added up for one request. */
export const TEST_CASES_PER_REQUEST = 500_000;
/** Test cases that the main thread adds up for one request. A request that needs more goes to a worker thread. */
export const TEST_CASES_ON_MAIN_THREAD = 2000;

/** The plan of a split or queue, made before anything is changed. Planning may take long: it runs in any thread and writes nothing. */
export interface Planned<Plan> {
  /** The split or queue to create; null: nothing, as the request brings no list or the split or queue exists. */
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
  /** When the request came. */
  at: Millis;
}

/** Plans a split. Null: only a worker thread should do that. */
export async function planSplit(store: Store, key: SplitKey, suite: Suite, options: PlanOptions): Promise<Planned<NewSplit> | null> {
  const { isWorker } = options;
  const split = await store.splits.find(key);
  if (split) return compareLists('split', split.list, suite, isWorker, () => pathsOfSplit(store, split));
  const list = listOf(suite);
  const files = await estimates(store, key, suite, 'split', options);
  if (!files) return null;
  const { node_total } = key.build;
  const learned = (await learnedBy(store, key.project, 'split')) ?? (await learnedBy(store, key.project, 'queue'));
  const { hidden, slowdown } = costOf(files, null, learned);
  // The time that a node loses at its start may have been less than was expected. That makes no file shorter than its estimate.
  const durations = withHidden(files.weights, { hidden: hidden / Math.min(1, slowdown), slowdown: Math.max(1, slowdown) });
  const packing = pack(durations, node_total);
  const { planned, nodeEnds } = byNode(packing.nodes);
  const plan = {
    list,
    files: store.plans.encode(files, planned),
    basis: encodeBasis(files, planned),
    nodeEnds,
    forecast: forecast({ ...files, weights: durations }, node_total, packing),
  };
  return { plan, sent: { ...list, difference: null } };
}

/** The files of all nodes one after another, and where those of each node end. */
function byNode(nodes: readonly (readonly number[])[]): { planned: Uint32Array; nodeEnds: Uint32Array } {
  let end = 0;
  const nodeEnds = Uint32Array.from(nodes, ({ length }) => (end += length));
  const planned = new Uint32Array(end);
  for (const [node, files] of nodes.entries()) planned.set(files, nodeEnds[node]! - files.length);
  return { planned, nodeEnds };
}

/** The facts of a request about the queue to plan. */
export interface QueueAsked {
  /** A queue that does not exist yet repeats the newest one of the build, if there is one. */
  repeatsNewest: boolean;
  /** See `estimate`. */
  sizes: readonly number[];
  /** See QueueRequest. */
  pieces: string | null;
  /** Files that failed last, and new ones, go first. */
  failingFirst: boolean;
  /** Files that other CI runs proved are left out; null: none. */
  proved: AskedProved | null;
}

/**
 * Plans a queue. Null: only a worker thread should do that.
 */
export async function planQueue(
  store: Store,
  key: QueueKey,
  suite: Suite,
  { repeatsNewest, sizes, pieces, failingFirst, proved: asked }: QueueAsked,
  options: PlanOptions,
): Promise<Planned<NewQueue> | null> {
  const { isWorker, pullCost, at } = options;
  const queue = (await store.queues.find(key)) ?? (repeatsNewest ? await store.queues.newest(key.project, key.build) : null);
  if (queue) return compareLists('queue', queue.list, suite, isWorker, () => listedFiles(store, queue));
  // CI runs are compared file by file.
  if (asked && !isWorker) return null;
  const list = listOf(suite);
  const unproved = asked && (await unprovedFiles(store, key.project, { suite, sizes }, asked, at));
  const left = unproved ?? { suite, sizes };
  const whole = await estimates(store, key, left.suite, 'queue', options, left.sizes);
  if (!whole) return null;
  const { node_total: nodeTotal } = key.build;
  const isGuessed = isMostlyGuessed(whole.seconds);
  const learned = await learnedBy(store, key.project, 'queue');
  const cost = costOf(whole, pullCost, learned);
  // What is known of the cases of a public side is what strangers say.
  const isWhole = isGuessed || isPublicSide(key.project);
  const worth = isWhole ? null : await worthCutting(store, key.project, whole, { nodeTotal, cost, runner: pieces, isWorker });
  if (worth === 'worker') return null;
  // A file with the name of a piece could not be told from one.
  const mayCut = worth && pieces !== null && !left.suite.strings().some(path => pieceOf(path));
  const cut = mayCut ? { ...withPieces(whole, worth), pieces_for: pieces } : null;
  const { files, cuts } = cut ?? { files: whole, cuts: null };
  const { weights } = files;
  const durations = withHidden(weights, cost);
  const { pullCost: pull } = cost;
  const first =
    failingFirst && !isGuessed ? await firstFiles(store, key, files, { durations, nodeTotal, pullCost: pull }, isWorker) : NONE_FIRST;
  if (!first) return null;
  const expectation = simulateQueue(durations, { nodeTotal, pullCost: cost.pullCost, isGuessed });
  const plan = {
    list: { ...list, ...(cut && { pieces_for: cut.pieces_for }), ...(unproved && { proved: unproved.leftOut }) },
    files: store.plans.encode(files),
    basis: encodeBasis(files),
    weights,
    guessed: isGuessed,
    learned,
    cuts: cuts && encodeCuts(cuts),
    first: allFirst(first).length > 0 ? first : null,
    forecast: {
      ...forecast({ ...files, weights: durations }, nodeTotal, expectation),
      ...(worth && { cutting: { files: worth.cutting.cuts.length, saves: savedSeconds(worth.cutting), is_done: cuts !== null } }),
    },
  };
  return { plan, sent: { ...list, difference: null } };
}

/** No build has it: its times are those of the default branch, else of any. */
const NO_BRANCH = '';

const NONE_FIRST: FirstFiles = { failed: [], unmeasured: [] };

/** Chooses the files of a queue that go first. Null: only a worker thread should do that. @param files of which most were measured */
async function firstFiles(
  store: Store,
  { project, build: { branch } }: QueueKey,
  { list, order, seconds }: Estimates<Suite>,
  options: FirstOptions,
  isWorker: boolean,
): Promise<FirstFiles | null> {
  if (!mayHaveFirst(options)) return NONE_FIRST;
  const paths = await recentFailures(store, project, branch, isWorker ? Infinity : POOLED_TEST_FILES);
  if (!paths) return null;
  const listed = new Set(paths.map(path => list.placeOf(path)));
  const failed = listed.size === 0 ? [] : Array.from(order.keys()).filter(file => listed.has(order[file]!));
  const hasFailed = new Set(failed);
  const unmeasured = Array.from(seconds.keys()).filter(file => Number.isNaN(seconds[file]) && !hasFailed.has(file));
  return chooseFirst({ failed, unmeasured }, options);
}

/** The paths that the list of a queue had; null: it left some out. */
async function listedFiles(store: Store, { id, list }: QueueInfo): Promise<string[] | null> {
  if (list.proved) return null;
  const paths = await pathsOfQueue(store, id);
  return list.pieces_for === undefined ? paths : [...new Set(paths.map(fileOfPiece))];
}

/** What batches of a project cost so far; null: nothing is known. The public side of a project has learned nothing. */
function learnedBy({ queues }: Store, project: number, mode: Mode): Soon<BatchSums | null> {
  return isPublicSide(project) ? null : queues.learned(project, mode);
}

/** The expected cost of a batch of these files. @param setting see `CostPrior` */
function costOf(files: Estimates<Suite>, setting: number | null, learned: BatchSums | null): BatchCost {
  const meanWeight = totalWeight(files.weights) / files.weights.length;
  return expectedCost({ setting, meanWeight, isGuessed: isMostlyGuessed(files.seconds), learned });
}

/** The times are those of the project, also for its public side: on its default branch, because the name of a branch is any text there. */
async function estimates(
  { timings }: Store,
  { project, build }: { project: number; build: BuildKey },
  suite: Suite,
  mode: Mode,
  { isWorker }: PlanOptions,
  sizes?: readonly number[],
): Promise<Estimates<Suite> | null> {
  if (!isWorker && suite.length >= POOLED_TEST_FILES) return null;
  const branch = isPublicSide(project) ? NO_BRANCH : build.branch;
  const mostCases = isWorker ? TEST_CASES_PER_REQUEST : TEST_CASES_ON_MAIN_THREAD;
  const times = await timings.estimates(ownerOf(project), branch, suite, mostCases);
  return times.isComplete || isWorker ? estimate(suite, times, mode, sizes) : null;
}

/** Compares the list of a node with that of the existing split or queue. */
async function compareLists(
  plan: Mode,
  list: TestFileList,
  suite: Suite,
  isWorker: boolean,
  planned: () => Promise<string[] | null>,
): Promise<Planned<never> | null> {
  const sent = listOf(suite);
  if (list.digest === sent.digest) return { plan: null, sent: { ...sent, difference: null } };
  if (!isWorker && list.test_files >= POOLED_TEST_FILES) return null;
  const paths = await planned();
  return { plan: null, sent: { ...sent, difference: paths && differenceOf(plan, new Set(paths), new Set(suite.strings())) } };
}

function listOf({ columns: { digest }, length }: Suite): TestFileList {
  return { digest, test_files: length };
}
