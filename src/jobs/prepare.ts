import { estimate } from '../plan/estimate.js';
import { pack } from '../plan/pack.js';
import { type RecordedRun, toRecordedRun } from '../store/recording.js';
import { findSplit, splitKey } from '../store/splits.js';
import type { Store } from '../store/open.js';
import { findLastQueue, findQueue, queueKeys } from '../store/queue-keys.js';
import type { QueueFiles } from '../store/queues.js';
import { timingsOf } from '../store/timings.js';
import type { NodeKey } from '../wire/build-key.js';
import { toBuildSubsetMessage } from '../wire/build-subset.js';
import type { Sent } from '../wire/coerce.js';
import { type KeptPeople, type People, separatePeople } from '../wire/people.js';
import { initializes, type QueueMessage, toQueueMessage } from '../wire/queue.js';
import { type Segments, toSegments } from '../wire/segments.js';
import { type SplitMessage, toSplitMessage } from '../wire/split.js';
import { distinctPaths, type PlannedTestFile } from '../wire/test-file.js';

/**
 * What a POST takes before anything is changed: validating, looking up timings, packing, encoding.
 * Reads the store and writes nothing; runs on the main thread when small and in the pool when large,
 * so what it returns moves between threads as blocks of bytes.
 */

export interface PreparedSubset {
  message: NodeKey;
  run: RecordedRun;
}

export function prepareSubset(_store: Store, sent: Sent, project: number): PreparedSubset {
  const { test_files, ...message } = toBuildSubsetMessage(sent);
  return { message, run: toRecordedRun(project, test_files) };
}

export interface PreparedSplit {
  message: Omit<SplitMessage, 'test_files' | keyof People>;
  people: KeptPeople;
  key: string;
  /** JSON of each node's test files; null when this request starts no split, or there is one already. */
  nodes: Segments | null;
}

export function prepareSplit(store: Store, sent: Sent, project: number): PreparedSplit {
  const { rest, people } = separatePeople(toSplitMessage(sent));
  const { test_files = [], ...message } = rest;
  const key = splitKey(project, message, message.fixed_test_suite_split ? null : message.ci_build_id);
  const prepared = { message, people, key };
  if (message.cache_read_attempt || findSplit(store, key)) return { ...prepared, nodes: null };
  const paths = distinctPaths(test_files);
  const estimates = estimate(paths, timingsOf(store, project, paths));
  const json = estimates.map(toJson);
  const nodes = pack(Float64Array.from(estimates, ({ weight }) => weight), message.node_total);
  return { ...prepared, nodes: toSegments(nodes.map(files => `[${files.map(file => json[file]!).join()}]`)) };
}

export interface PreparedQueue {
  message: Omit<QueueMessage, 'test_files' | keyof People>;
  people: KeptPeople;
  /** Null when this request starts no queue, or there is one already. */
  files: QueueFiles | null;
  measured: boolean;
}

export function prepareQueue(store: Store, sent: Sent, project: number): PreparedQueue {
  const { rest, people } = separatePeople(toQueueMessage(sent));
  const { test_files = [], ...message } = rest;
  const prepared = { message, people, files: null, measured: false };
  const keys = queueKeys(project, message, message.node_build_id);
  if (!initializes(message) || findQueue(store, keys)) return prepared;
  if (message.fixed_queue_split && findLastQueue(store, keys)) return prepared;
  const paths = distinctPaths(test_files);
  const timings = timingsOf(store, project, paths);
  const estimates = estimate(paths, timings);
  return {
    ...prepared,
    files: { files: toSegments(estimates.map(toJson)), weights: Float64Array.from(estimates, ({ weight }) => weight) },
    measured: timings.some(seconds => seconds !== null),
  };
}

function toJson({ path, time_execution }: PlannedTestFile): string {
  return JSON.stringify({ path, time_execution });
}
