import type { BuildKey } from '../../api/messages/build-key.js';
import type { MaskedPeople } from '../../api/messages/people.js';
import type { PlannedTestFile } from '../../api/messages/test-file.js';
import { apiErrors } from '../../api-error.js';
import type { Moment } from '../../engine/moment.js';
import { type Segments, segment } from '../../engine/segments.js';
import { limits } from '../../limits.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import { runsRecordedOf } from './builds.js';
import { commit } from './commit.js';
import { createOnce, creationSettled } from './create-once.js';
import { digest } from './digest.js';
import type { Store } from './open.js';
import type { ListRecord, Millis, SplitRecord } from './records.js';

/** ci_build_id null: a fixed split, the same for every CI build of the triple. */
export function splitKey(project: number, key: BuildKey, ci_build_id: string | null): string {
  return digest(project, key.commit_hash, key.branch, key.node_total, ci_build_id);
}

export function findSplit(store: Store, key: string): SplitRecord | null {
  return store.splits.get(key) ?? null;
}

/** The same, when it is on disk. */
export async function findSplitOnDisk(store: Store, key: string): Promise<SplitRecord | null> {
  await creationSettled(store, nameOf(key));
  return findSplit(store, key);
}

const nameOf = (key: string) => `split ${key}`;

/**
 * Notes that a split is in use, which then does not expire.
 *
 * @param build returns the key of its build, see buildIdKey; called only when needed
 * @param ci_build_id who uses a fixed one, which is kept; null: it is no fixed one
 */
export async function useSplit(
  store: Store,
  key: string,
  build: () => string,
  split: SplitRecord,
  ci_build_id: string | null,
  now: Millis,
): Promise<void> {
  const isDue = now - split.used_at >= limits.lastUseUpdateMilliseconds;
  // All nodes of a CI build ask: its digest and a look at the store once are enough.
  const user = ci_build_id === null ? null : `${split.id} ${ci_build_id}`;
  if (!isDue && (user === null || store.splitUsers.get(user))) return;
  const run: SplitRun | null = ci_build_id === null ? null : runOf(split, ci_build_id);
  if (isDue || (run && !store.splitRuns.doesExist(run))) {
    await commit(store, () => {
      // Not the one that was given: since then it may have been noted that a node sent another list.
      const current = store.splits.get(key);
      if (current?.id !== split.id) return;
      if (isDue) void store.splits.put(key, { ...current, used_at: now });
      if (ci_build_id !== null) noteSplitRun(store, split, ci_build_id, build(), now);
    });
  }
  if (user !== null) store.splitUsers.set(user, true);
}

/** Records, within a write transaction, that a CI build uses a fixed split, and whether one of its nodes sent another list. @param build see buildIdKey */
export function noteSplitRun(store: Store, split: SplitRecord, ci_build_id: string, build: string, now: Millis, other_list?: string): void {
  const run = runOf(split, ci_build_id);
  const known = store.splitRuns.get(run);
  if (known !== undefined && (typeof known === 'number' || known.other_list !== undefined || other_list === undefined)) return;
  const first = known ?? { at: now, runs_before: runsRecordedOf(store, build) };
  void store.splitRuns.put(run, { ...first, ...(other_list !== undefined && { other_list }) });
}

/** When a CI build first asked for a fixed split, and its `other_list`; undefined: it never asked. */
export function firstUseOf(store: Store, split: SplitRecord, ci_build_id: string): (Moment & { other_list?: string }) | undefined {
  const use = store.splitRuns.get(runOf(split, ci_build_id));
  return typeof use === 'number' ? { runs_before: null, at: use } : use;
}

type SplitRun = [split: string, ci_build: string];

function runOf({ id }: SplitRecord, ci_build_id: string): SplitRun {
  return [id, digest(ci_build_id)];
}

/** The answer to a node; undefined when the split expired. */
export function answerOfSplit(store: Store, split: SplitRecord, node_index: number): Buffer | undefined {
  return store.blobs.get([split.id, node_index]);
}

/** The test files of each node, slowest first. Throws a 503 when the split expired. */
export function* filesOfSplit(store: Store, split: SplitRecord): Generator<{ node_index: number; paths: string[] }> {
  for (let node_index = 0; node_index < split.node_total; node_index++) {
    const answer = answerOfSplit(store, split, node_index);
    if (!answer) throw apiErrors.expired('split');
    const { test_files } = JSON.parse(answer.toString()) as { test_files: PlannedTestFile[] };
    yield { node_index, paths: test_files.map(({ path }) => path) };
  }
}

/** The test files of all nodes. */
export function pathsOfSplit(store: Store, split: SplitRecord): string[] {
  return [...filesOfSplit(store, split)].flatMap(({ paths }) => paths);
}

/** What a split starts with. */
export interface SplitPlan {
  id: string;
  people: MaskedPeople;
  list: ListRecord;
  /** The answer to each node, as JSON. */
  answers: Segments;
  forecast: Forecast;
}

/**
 * Installs a split unless another request was faster. Returns the one in force.
 * @param build see buildIdKey
 */
export async function installSplit(
  store: Store,
  key: string,
  build: string,
  split: SplitRecord,
  { answers, forecast }: SplitPlan,
  ci_build_id: string | null = null,
): Promise<SplitRecord> {
  const { id, created_at, node_total: count } = split;
  const inForce = await createOnce(store, {
    name: nameOf(key),
    expiry: [created_at, 'split', key, id],
    find: () => findSplit(store, key),
    pieces: () => ({ owner: id, count, piece: node => ({ part: node, bytes: segment(answers, node) }) }),
    put() {
      const runs_before = runsRecordedOf(store, build);
      const made = { ...split, runs_before };
      void store.splits.put(key, made);
      void store.forecasts.put(id, { v: 1, ...forecast });
      if (ci_build_id !== null) void store.splitRuns.put(runOf(split, ci_build_id), { at: created_at, runs_before });
      return made;
    },
  });
  return inForce!;
}
