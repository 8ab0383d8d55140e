import { randomUUID } from 'node:crypto';
import type { NodeKey } from '../api/messages/build-key.js';
import { toBuildSubsetMessage } from '../api/messages/build-subset.js';
import type { RawParameters } from '../api/messages/coerce.js';
import { extractPeople, type MaskedPeople, type People } from '../api/messages/people.js';
import { isInitialization, type QueueMessage, toQueueMessage } from '../api/messages/queue.js';
import { type SplitMessage, toSplitMessage } from '../api/messages/split.js';
import { distinctPaths, type PlannedTestFile } from '../api/messages/test-file.js';
import { type TestQueueMessage, toTestQueueMessage } from '../api/messages/test-queue.js';
import { listDifference, sentenceOfDifference } from '../engine/list-difference.js';
import { type CutText, toSegments } from '../engine/segments.js';
import { limits } from '../limits.js';
import { digestOfList } from '../list-digest.js';
import { expectQueue } from '../planning/batching/expect-queue.js';
import { type Estimates, estimate, QUEUE_PERCENTILE, SPLIT_PERCENTILE } from '../planning/estimating/estimate.js';
import { forecast, unknownFiles } from '../planning/forecasting/forecast.js';
import { pack } from '../planning/packing/pack.js';
import { buildIdKey } from '../store/lmdb/builds.js';
import { allPathsOf, toBlocks } from '../store/lmdb/file-blocks.js';
import type { Store } from '../store/lmdb/open.js';
import type { SentList } from '../store/lmdb/other-lists.js';
import { findLastQueue, findQueue, queueKey } from '../store/lmdb/queue-keys.js';
import type { QueuePlan } from '../store/lmdb/queues.js';
import { type RecordedRun, toRecordedRun } from '../store/lmdb/recording.js';
import type { ListRecord } from '../store/lmdb/records.js';
import { findSplit, pathsOfSplit, type SplitPlan, splitKey } from '../store/lmdb/splits.js';
import { knownTimes, TooManyCases } from '../store/lmdb/timings.js';

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
  run: RecordedRun;
}

export function prepareSubset(_store: Store, sent: RawParameters, _project: number, { isPooled }: PrepareOptions): PreparedSubset {
  const { test_files, commit_hash, branch, node_total, node_index, ci_build_id } = toBuildSubsetMessage(sent);
  const message = { commit_hash, branch, node_total, node_index };
  const run = toRecordedRun(test_files, ci_build_id || undefined);
  return { message, run: isPooled ? { ...run, paths: toSegments(run.paths as string[]) } : run };
}

export interface PreparedSplit {
  message: Omit<SplitMessage, 'test_files' | keyof People>;
  key: string;
  /** Null when this request starts no split, or there is one already. */
  plan: SplitPlan | null;
  /** Null when this request brings none. */
  sent: SentList | null;
}

export function prepareSplit(store: Store, sent: RawParameters, project: number, { isPooled }: PrepareOptions): PreparedSplit {
  const whole = toSplitMessage(sent);
  const key = splitKey(project, whole, whole.fixed_test_suite_split ? null : whole.ci_build_id);
  if (whole.cache_read_attempt) return { message: whole, key, plan: null, sent: null };
  const { rest, people } = extractPeople(whole);
  const { test_files = [], ...message } = rest;
  const paths = distinctPaths(test_files);
  const split = findSplit(store, key);
  if (split) return { message, key, plan: null, sent: sentTo('split', split.list, paths, isPooled, () => pathsOfSplit(store, split)) };
  const files = estimate(paths, knownTimes(store, project, message.branch, paths, isPooled), SPLIT_PERCENTILE);
  const json = toJson(files);
  const packing = pack(files.weights, message.node_total);
  const id = randomUUID();
  const list = listOf(paths);
  const answers = packing.nodes.map((indices, node) => {
    const test_files = indices.map(file => json.text.slice(json.ends[file - 1] ?? 0, json.ends[file])).join('');
    return `{"build_distribution_id":"${id}","node_index":${node},"test_files":[${test_files.slice(1)}]}`;
  });
  return {
    message,
    key,
    sent: { ...list, difference: null },
    plan: { id, people, list, answers: toSegments(answers), forecast: forecast(files, message.node_total, packing) },
  };
}

export interface PreparedQueue {
  message: Omit<QueueMessage, 'test_files' | keyof People>;
  key: string;
  /** Null when this request starts no queue, or there is one already. */
  plan: QueuePlan | null;
  /** Null when this request brings none. */
  sent: SentList | null;
}

export function prepareQueue(store: Store, sent: RawParameters, project: number, options: PrepareOptions): PreparedQueue {
  const whole = toQueueMessage(sent);
  const key = queueKey(project, whole, whole.node_build_id);
  // Nearly every request: nothing is taken apart for it.
  if (!isInitialization(whole)) return { message: whole, key, plan: null, sent: null };
  const { rest, people } = extractPeople(whole);
  const { test_files = [], ...message } = rest;
  const paths = distinctPaths(test_files);
  const queue = findQueue(store, key) ?? (message.fixed_queue_split ? findLastQueue(store, buildIdKey(project, message)) : null);
  if (queue !== null) return { message, key, plan: null, sent: sentToQueue(store, queue, paths, options) };
  const plan = planQueue(store, paths, { project, people, ...message }, options);
  return { message, key, plan, sent: { ...plan.list, difference: null } };
}

export interface PreparedTestQueue {
  message: Omit<TestQueueMessage, 'paths' | keyof People>;
  key: string;
  /** Null when this request starts no queue, or there is one already. */
  plan: QueuePlan | null;
  /** Null when this request brings none. */
  sent: SentList | null;
}

export function prepareTestQueue(store: Store, sent: RawParameters, project: number, options: PrepareOptions): PreparedTestQueue {
  const whole = toTestQueueMessage(sent);
  const key = queueKey(project, whole, whole.test_queue_id);
  if (!isInitialization(whole)) return { message: whole, key, plan: null, sent: null };
  const { rest, people } = extractPeople(whole);
  const { paths: listed = [], ...message } = rest;
  const paths = [...new Set(listed)];
  const queue = findQueue(store, key);
  if (queue !== null) return { message, key, plan: null, sent: sentToQueue(store, queue, paths, options) };
  const plan = planQueue(store, paths, { project, people, ...message }, options);
  return { message, key, plan, sent: { ...plan.list, difference: null } };
}

interface Suite {
  project: number;
  branch: string;
  node_total: number;
  people: MaskedPeople;
}

function planQueue(store: Store, paths: string[], suite: Suite, { pullCost, isPooled }: PrepareOptions): QueuePlan {
  const { project, branch, node_total: nodeTotal, people } = suite;
  const files = estimate(paths, knownTimes(store, project, branch, paths, isPooled), QUEUE_PERCENTILE);
  const { seconds, weights } = files;
  const isGuessed = unknownFiles(seconds) > seconds.length / 2;
  const expectation = expectQueue(weights, { nodeTotal, pullCost, isGuessed });
  return {
    people,
    list: listOf(paths),
    blocks: toBlocks(toJson(files)),
    weights,
    guessed: isGuessed,
    forecast: forecast(files, nodeTotal, expectation),
  };
}

function listOf(paths: readonly string[]): ListRecord {
  return { digest: digestOfList(paths), test_files: paths.length };
}

function sentToQueue(store: Store, queue: string, paths: readonly string[], { isPooled }: PrepareOptions): SentList {
  return sentTo('queue', store.queues.get(queue)?.list, paths, isPooled, () => allPathsOf(store, queue));
}

/**
 * A list that a node sent for a split or queue that exists already.
 *
 * @param list the list that it was made of; missing: an older Ballast made it
 */
function sentTo(
  what: 'split' | 'queue',
  list: ListRecord | undefined,
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

/** Each file as it is answered, behind a comma. */
function toJson({ paths, seconds }: Estimates): CutText {
  const ends = new Uint32Array(paths.length);
  if (paths.length === 0) return { text: '', ends };
  const list = JSON.stringify(paths.map((path, i) => toPlanned(path, seconds[i]!)));
  const text = `,${list.slice(1, -1)}`;
  // Encoded one by one they take twice as long. A path may end with },{ but behind its quote a comma follows.
  for (let file = 0, at = 0; file < ends.length - 1; file++) ends[file] = at = text.indexOf('},{"p', at) + 1;
  ends[ends.length - 1] = text.length;
  return { text, ends };
}

function toPlanned(path: string, seconds: number): PlannedTestFile {
  return { path, time_execution: Number.isNaN(seconds) ? null : seconds };
}
