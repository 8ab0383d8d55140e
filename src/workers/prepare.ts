import type { NodeKey } from '../api/messages/build-key.js';
import { toBuildSubsetMessage } from '../api/messages/build-subset.js';
import type { Sent } from '../api/messages/coerce.js';
import { type People, separatePeople } from '../api/messages/people.js';
import { initializes, type QueueMessage, toQueueMessage } from '../api/messages/queue.js';
import { type SplitMessage, toSplitMessage } from '../api/messages/split.js';
import { distinctPaths } from '../api/messages/test-file.js';
import { type TestQueueMessage, toTestQueueMessage } from '../api/messages/test-queue.js';
import { apiErrors } from '../api-error.js';
import { type QueueKey, queueKey, type SplitKey, splitKey } from '../engine/keys.js';
import { listDifference, sentenceOfDifference } from '../engine/list-difference.js';
import type { People as KeptPeople } from '../engine/people.js';
import type { NewQueue, QueueInfo } from '../engine/ports/queues.js';
import type { NewRun } from '../engine/ports/recordings.js';
import type { NewSplit, Split } from '../engine/ports/splits.js';
import { newRun } from '../engine/recordings.js';
import { toSegments } from '../engine/segments.js';
import type { PlannedTestFile } from '../engine/test-file.js';
import type { SentList, TestFileList } from '../engine/test-file-list.js';
import { limits } from '../limits.js';
import { digestOfList } from '../list-digest.js';
import { expectQueue } from '../planning/batching/expect-queue.js';
import { estimate, QUEUE_PERCENTILE, SPLIT_PERCENTILE } from '../planning/estimating/estimate.js';
import type { LookedUpTimes } from '../planning/estimating/known-times.js';
import { forecast, unknownFiles } from '../planning/forecasting/forecast.js';
import { pack } from '../planning/packing/pack.js';
import type { LmdbStore } from '../store/lmdb/store.js';

/** There are so many test cases to add up that a packing thread is to do it. */
export class TooManyCases extends Error {}

/**
 * What a POST takes before anything is changed: validating, looking up timings, packing, encoding.
 * Reads the store and writes nothing; runs on the main thread when small and in the pool when large,
 * so what it returns moves between threads as blocks of bytes.
 */

export interface PrepareOptions {
  /** What a node loses between two batches of a queue, as a weight. */
  pullCost: number;
  /** This is a packing thread; elsewhere TooManyCases is thrown when it should be one. */
  isPooled: boolean;
}

export interface PreparedSubset {
  message: NodeKey;
  run: NewRun;
}

export function prepareSubset(_store: LmdbStore, sent: Sent, _project: number, { isPooled }: PrepareOptions): PreparedSubset {
  const { test_files, commit_hash, branch, node_total, node_index, ci_build_id } = toBuildSubsetMessage(sent);
  const message = { commit_hash, branch, node_total, node_index };
  const run = newRun(test_files, ci_build_id || undefined);
  return { message, run: isPooled ? { ...run, paths: toSegments(run.paths as string[]) } : run };
}

export interface PreparedSplit {
  message: Omit<SplitMessage, 'test_files' | keyof People>;
  key: SplitKey;
  /** Null when this request starts no split, or there is one already. */
  plan: NewSplit | null;
  /** Null when this request brings none. */
  sent: SentList | null;
}

export function prepareSplit(store: LmdbStore, sent: Sent, project: number, { isPooled }: PrepareOptions): PreparedSplit {
  const whole = toSplitMessage(sent);
  const key = splitKey(project, whole, whole.ci_build_id, whole.fixed_test_suite_split);
  if (whole.cache_read_attempt) return { message: whole, key, plan: null, sent: null };
  const { rest, people } = separatePeople(whole);
  const { test_files = [], ...message } = rest;
  const paths = distinctPaths(test_files);
  // Also one that is being created: its list tells.
  const split = store.parts.splits.get(key.digest);
  if (split)
    return {
      message,
      key,
      plan: null,
      sent: sentTo('split', split.list, paths, isPooled, () => filesOfSplit(store, split).flatMap(({ paths: listed }) => listed)),
    };
  const files = estimate(paths, timesOf(store, project, message.branch, paths, isPooled), SPLIT_PERCENTILE);
  const packing = pack(files.weights, message.node_total);
  const list = listOf(paths);
  return {
    message,
    key,
    sent: { ...list, difference: null },
    plan: { people, list, files: store.splits.encode(files, packing.nodes), forecast: forecast(files, message.node_total, packing) },
  };
}

export interface PreparedQueue {
  message: Omit<QueueMessage, 'test_files' | keyof People>;
  key: QueueKey;
  /** Null when this request starts no queue, or there is one already. */
  plan: NewQueue | null;
  /** Null when this request brings none. */
  sent: SentList | null;
}

export function prepareQueue(store: LmdbStore, sent: Sent, project: number, options: PrepareOptions): PreparedQueue {
  const whole = toQueueMessage(sent);
  const key = queueKey(project, whole, whole.node_build_id);
  // Nearly every request: nothing is taken apart for it.
  if (!initializes(whole)) return { message: whole, key, plan: null, sent: null };
  const { rest, people } = separatePeople(whole);
  const { test_files = [], ...message } = rest;
  const paths = distinctPaths(test_files);
  const queue = store.queues.find(key) ?? (message.fixed_queue_split ? store.queues.newest(project, message) : null);
  if (queue !== null) return { message, key, plan: null, sent: sentToQueue(store, queue, paths, options) };
  const plan = planQueue(store, paths, { project, people, ...message }, options);
  return { message, key, plan, sent: { ...plan.list, difference: null } };
}

export interface PreparedTestQueue {
  message: Omit<TestQueueMessage, 'paths' | keyof People>;
  key: QueueKey;
  /** Null when this request starts no queue, or there is one already. */
  plan: NewQueue | null;
  /** Null when this request brings none. */
  sent: SentList | null;
}

export function prepareTestQueue(store: LmdbStore, sent: Sent, project: number, options: PrepareOptions): PreparedTestQueue {
  const whole = toTestQueueMessage(sent);
  const key = queueKey(project, whole, whole.test_queue_id);
  if (!initializes(whole)) return { message: whole, key, plan: null, sent: null };
  const { rest, people } = separatePeople(whole);
  const { paths: listed = [], ...message } = rest;
  const paths = [...new Set(listed)];
  const queue = store.queues.find(key);
  if (queue !== null) return { message, key, plan: null, sent: sentToQueue(store, queue, paths, options) };
  const plan = planQueue(store, paths, { project, people, ...message }, options);
  return { message, key, plan, sent: { ...plan.list, difference: null } };
}

interface Suite {
  project: number;
  branch: string;
  node_total: number;
  people: KeptPeople;
}

function planQueue(store: LmdbStore, paths: string[], suite: Suite, { pullCost, isPooled }: PrepareOptions): NewQueue {
  const { project, branch, node_total: nodeTotal, people } = suite;
  const files = estimate(paths, timesOf(store, project, branch, paths, isPooled), QUEUE_PERCENTILE);
  const { seconds, weights } = files;
  const isGuessed = unknownFiles(seconds) > seconds.length / 2;
  const expectation = expectQueue(weights, { nodeTotal, pullCost, isGuessed });
  return {
    people,
    list: listOf(paths),
    files: store.queues.encode(files),
    weights,
    guessed: isGuessed,
    forecast: forecast(files, nodeTotal, expectation),
  };
}

function listOf(paths: readonly string[]): TestFileList {
  return { digest: digestOfList(paths), test_files: paths.length };
}

function sentToQueue(store: LmdbStore, queue: QueueInfo, paths: readonly string[], { isPooled }: PrepareOptions): SentList {
  return sentTo('queue', queue.list, paths, isPooled, () => allPathsOf(store, queue.id));
}

/**
 * A list that a node sent for a split or queue that exists already.
 *
 * @param list the list that it was made of; missing: an older Ballast made it
 */
function sentTo(
  what: 'split' | 'queue',
  list: TestFileList | undefined,
  listed: readonly string[],
  isPooled: boolean,
  planned: () => string[],
): SentList {
  const sent = listOf(listed);
  if (list?.digest === sent.digest) return { ...sent, difference: null };
  if (!isPooled && (list?.test_files ?? Infinity) >= limits.pooledTestFiles) throw new TooManyCases();
  const difference = listDifference(planned(), listed);
  const isSame = difference.onlyPlanned.length + difference.onlyListed.length === 0;
  return { ...sent, difference: isSame ? null : sentenceOfDifference(what, difference) };
}

function timesOf(store: LmdbStore, project: number, branch: string, paths: readonly string[], isPooled: boolean): LookedUpTimes {
  const times = store.timings.estimates(project, branch, paths, isPooled ? limits.casesPooled : limits.casesHere);
  if (!times.isComplete && !isPooled) throw new TooManyCases();
  return times;
}

/** The test files of each node, slowest first. Throws a 503 when the split expired. */
export function filesOfSplit(store: LmdbStore, split: Split): { node_index: number; paths: string[] }[] {
  return Array.from({ length: split.node_total }, (_, node_index) => {
    const files = store.splits.files(split, node_index);
    if (!files) throw apiErrors.expiredMeanwhile('split');
    return { node_index, paths: pathsIn(files) };
  });
}

/** The paths of all files of a queue, in order. */
export function allPathsOf({ queues }: LmdbStore, queue: string): string[] {
  const size = queues.size(queue);
  return size === 0 ? [] : pathsIn(queues.files(queue, [...Array(size).keys()]));
}

export function pathsIn(files: Buffer): string[] {
  return (JSON.parse(files.toString()) as PlannedTestFile[]).map(({ path }) => path);
}
