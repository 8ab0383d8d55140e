import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { BuildFilter, NodeKey } from '../../../src/engine/build-key.js';
import { type QueueKey, queueKey, splitKey } from '../../../src/engine/keys.js';
import type { Build, Run } from '../../../src/engine/ports/builds.js';
import type { Recorded } from '../../../src/engine/ports/recordings.js';
import { newRun } from '../../../src/engine/recordings.js';
import type { RecordedTestFile } from '../../../src/engine/test-file.js';
import { forecast } from '../../../src/planning/forecasting/forecast.js';
import { lmdbBuilds } from '../../../src/store/lmdb/builds.js';
import { expirePaths, expireStep } from '../../../src/store/lmdb/expiry.js';
import { closeParts, openParts, type Parts } from '../../../src/store/lmdb/parts.js';
import type { LmdbQueues } from '../../../src/store/lmdb/queues.js';
import { lmdbRecordings } from '../../../src/store/lmdb/recordings.js';
import { type LmdbStore, openLmdbStore } from '../../../src/store/lmdb/store.js';
import { lmdbTimings } from '../../../src/store/lmdb/timings.js';
import { applyTimes, type PendingRun } from '../../../src/store/lmdb/writes/apply-times.js';
import { Journal } from '../../../src/store/lmdb/writes/journal.js';
import type { TimingWriteBuffer } from '../../../src/store/lmdb/writes/timing-write-buffer.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** The parts of a store in a folder of its own, closed after the test. */
export function temporaryStore(): Parts {
  const parts = openParts(temporaryFolder());
  onTestFinished(() => closeParts(parts));
  return parts;
}

/** A whole store of that kind. */
export function temporaryLmdbStore(): LmdbStore {
  const store = openLmdbStore(temporaryFolder());
  onTestFinished(() => store.close());
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

/** What a plan of no files comes to. */
export const FORECAST = forecast({ paths: [], seconds: new Float64Array(), weights: new Float64Array() }, 1, {
  makespan: 0,
  lowerBound: 0,
  isBoundByFile: false,
});

/** Estimates of files with these paths, all of the same weight. */
export function estimatesOf(paths: readonly string[], weight = 100_000) {
  return { paths, seconds: new Float64Array(paths.length).fill(NaN), weights: new Float64Array(paths.length).fill(weight) };
}

const COMMIT = { commit_hash: 'abc', branch: 'main' };

/** The key of a queue of one build. */
export const queueOf = (ci_run: string, node_total = 4) => queueKey(1, { ...COMMIT, node_total }, ci_run);

/** The key of a split of that build; null: of a fixed one. */
export const splitOf = (ci_run: string | null, node_total = 3) => splitKey(1, { ...COMMIT, node_total }, ci_run ?? '', ci_run === null);

/** A page of the builds of a project. */
export function listBuilds(parts: Parts, project: number, filter: BuildFilter, page: number): { total: number; builds: Build[] } {
  return lmdbBuilds(parts).page(project, filter, page);
}

/** The runs of a build, newest first. */
export function runsOfBuild(parts: Parts, { number }: Build): (Run & { files: RecordedTestFile[] })[] {
  const builds = lmdbBuilds(parts);
  return builds
    .runs(number)
    .map(head => builds.run(number, head)!)
    .map(run => ({ ...run, files: run.paths.map((path, i) => ({ path, time_execution: run.seconds[i]! })) }))
    .sort((one, other) => other.created_at - one.created_at);
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
  return lmdbRecordings(store).record(project, key, newRun(files), isRetry, at);
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
  return Array.from(lmdbTimings(store).estimates(project, branch, paths, Infinity).seconds, time => (Number.isNaN(time) ? null : time));
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

/** Notes whether an answer with a batch was written. */
export function settle(queues: LmdbQueues, key: QueueKey, seq: number, isWritten: boolean): Promise<null> {
  return queues.update(
    key,
    () => null,
    ({ queue }) => {
      const change = isWritten ? queue.delivered(seq) : queue.undelivered(seq) ? seq : null;
      return { value: null, changes: change === null ? [] : [change] };
    },
    Date.UTC(2026, 0, 1),
  );
}
