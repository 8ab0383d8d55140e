import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { NodeKey } from '../../../src/api/messages/build-key.js';
import type { RecordedTestFile } from '../../../src/api/messages/test-file.js';
import type { Segments } from '../../../src/engine/segments.js';
import { forecast } from '../../../src/planning/forecasting/forecast.js';
import { expirePaths, expireStep } from '../../../src/store/lmdb/expiry.js';
import { toBlocks } from '../../../src/store/lmdb/file-blocks.js';
import { Journal } from '../../../src/store/lmdb/journal.js';
import { closeStore, openStore, type Parts } from '../../../src/store/lmdb/open.js';
import { type Recorded, recordSubset, toRecordedRun } from '../../../src/store/lmdb/recording.js';
import type { QueueRecord } from '../../../src/store/lmdb/records.js';
import type { TimingWriteBuffer } from '../../../src/store/lmdb/timing-write-buffer.js';
import { applyTimes, knownTimes, type PendingRun } from '../../../src/store/lmdb/timings.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** A store in a folder of its own, closed after the test. */
export function temporaryStore(): Parts {
  const store = openStore(temporaryFolder());
  onTestFinished(() => closeStore(store));
  return store;
}

/** Another journal on the store, or other recent timings: their timers end with the test. */
export function closedAfterTest<Part extends Journal | TimingWriteBuffer>(part: Part): Part {
  onTestFinished(() => part.close().catch(() => {}));
  return part;
}

/** What a process finds that starts in the folder of another, which was killed. */
export function afterKill(store: Parts): Parts {
  const journal = closedAfterTest(new Journal(store));
  journal.recover();
  return { ...store, journal };
}

/** The table, but for what is put. */
export function withPut<T extends object>(table: T, put: () => Promise<boolean>): T {
  return Object.assign(Object.create(table) as T, { put });
}

/** Resolves when whatever waits for a turn of the event loop has had it. */
export async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

export const NOBODY = { user_seat: null, build_author: null };
export const LIST = { digest: 'of-a-list', test_files: 3 };

/** The blocks of a queue's files, each as JSON behind a comma. */
export function blocksOf(files: readonly string[]): Segments {
  let end = 0;
  return toBlocks({ text: files.join(''), ends: Uint32Array.from(files, file => (end += file.length)) });
}

/** What a plan of no files comes to. */
export const FORECAST = forecast({ paths: [], seconds: new Float64Array(), weights: new Float64Array() }, 1, {
  makespan: 0,
  lowerBound: 0,
  isBoundByFile: false,
});

/** The key of the build that all queues are of. */
export const BUILD = 'build';

/** A queue as it is created. */
export function queueRecord(name: string, node_total: number, at: number): QueueRecord {
  const times = { created_at: at, used_at: at };
  return { v: 1, name, node_total, guessed: false, repeats: false, people: NOBODY, ...times, build: BUILD };
}

/** Records one run of a node, as POST /build_subsets does. */
export function recordRun(
  store: Parts,
  project: number,
  key: NodeKey,
  files: readonly RecordedTestFile[],
  at: number,
  isRetry = false,
): Promise<Recorded> {
  return recordSubset(store, project, key, toRecordedRun(files), isRetry, at);
}

/** Records times of test files on the branch main, each time in another build; of that no record is left. */
export async function recordTimes(store: Parts, project: number, times: Record<string, number>, at: number): Promise<void> {
  const entries = Object.entries(times);
  const paths = Uint32Array.from(entries, ([path]) => store.timingBuffer.intern(project, path, at));
  await store.timingBuffer.saveNames();
  const run: PendingRun = { project, branch: 'main', build: `build-${at}`, began: at, at, run: 'first', entry: 0 };
  await applyTimes(
    store,
    paths,
    Float64Array.from(entries, ([, seconds]) => seconds),
    run,
  );
}

/** What is planned with on the branch, in the order of the paths; null where nothing is known. */
export function secondsOf(store: Parts, project: number, paths: readonly string[], branch = 'main'): (number | null)[] {
  return Array.from(knownTimes(store, project, branch, paths, true).seconds, time => (Number.isNaN(time) ? null : time));
}

/** Sweeps to the end, as the service does; tells after each step. */
export async function expire(
  store: Parts,
  before: number,
  { dropped = () => {}, stepped = () => {} }: { dropped?: (key: string) => void; stepped?: () => void } = {},
): Promise<void> {
  await store.timingBuffer.save();
  await store.journal.checkpoint();
  for (let more = true; more; stepped()) more = await expireStep(store, before, dropped);
  for (let at: number | null = 0; at !== null; stepped()) at = await expirePaths(store, before, at);
}

/** The number of records by table. */
export function recordsByTable(store: Parts): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, table] of Object.entries(store)) {
    if (name !== 'root' && 'getCount' in table) counts[name] = table.getCount();
  }
  return counts;
}

/** Tables that are not empty, apart from those that never expire. */
export function leftovers(store: Parts): string[] {
  return Object.entries(recordsByTable(store))
    .filter(([name, count]) => count > 0 && !['meta', 'projects', 'projectNames', 'tokens'].includes(name))
    .map(([name]) => name);
}
