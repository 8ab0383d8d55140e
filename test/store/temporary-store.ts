import { onTestFinished } from 'vitest';
import { expireStep, expireTimings } from '../../src/store/expiry.js';
import { commit, openStore, type Store } from '../../src/store/open.js';
import type { QueueKeys } from '../../src/store/queue-keys.js';
import type { QueueRecord } from '../../src/store/records.js';
import { type Recorded, recordSubset, toRecordedRun } from '../../src/store/recording.js';
import { putTimings, timingKey } from '../../src/store/timings.js';
import type { NodeKey } from '../../src/wire/build-key.js';
import type { RecordedTestFile } from '../../src/wire/test-file.js';
import { temporaryFolder } from '../harness/server.js';

/** A store in a folder of its own, closed after the test. */
export function temporaryStore(): Store {
  const store = openStore(temporaryFolder());
  onTestFinished(() => store.root.close());
  return store;
}

export const NOBODY = { user_seat: null, build_author: null };

/** A queue as it is created. */
export function queueRecord(keys: QueueKeys, node_total: number, at: number): QueueRecord {
  const { nodeBuild: name, build } = keys;
  const times = { created_at: at, used_at: at };
  return { v: 1, name, node_total, measured: true, repeats: false, people: NOBODY, ...times, build };
}

/** Records one run of a node, as POST /build_subsets does. */
export function recordRun(
  store: Store,
  project: number,
  key: NodeKey,
  files: readonly RecordedTestFile[],
  at: number,
  isRetry = false,
): Promise<Recorded> {
  return recordSubset(store, project, key, toRecordedRun(project, files), isRetry, at);
}

/** Records times of test files, without a build. */
export async function recordTimes(
  store: Store,
  project: number,
  times: Record<string, number>,
  at: number,
): Promise<void> {
  const timingKeys = Object.keys(times).map(path => timingKey(project, path));
  const measured = { timingKeys, seconds: Float64Array.from(Object.values(times)) };
  for (let from: number | null = 0; from !== null;) {
    const start: number = from;
    from = await commit(store, () => putTimings(store, measured, start, at));
  }
}

/** Sweeps to the end, as the service does; tells after each step. */
export async function expire(
  store: Store,
  before: number,
  { dropped = () => {}, stepped = () => {} }: { dropped?: (queue: string) => void; stepped?: () => void } = {},
): Promise<void> {
  for (let more = true; more; stepped()) more = await expireStep(store, before, dropped);
  let at: string | null = null;
  do {
    at = await expireTimings(store, before, at);
    stepped();
  } while (at !== null);
}

/** The number of records by table. */
export function recordsByTable(store: Store): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, table] of Object.entries(store)) {
    if (name !== 'root') counts[name] = (table as Store['meta']).getCount();
  }
  return counts;
}

/** Tables that are not empty, apart from those that never expire. */
export function leftovers(store: Store): string[] {
  return Object.entries(recordsByTable(store))
    .filter(([name, count]) => count > 0 && !['meta', 'projects', 'projectNames', 'tokens'].includes(name))
    .map(([name]) => name);
}
