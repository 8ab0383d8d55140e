import { limits } from '../limits.js';
import type { Forecast } from '../plan/forecast.js';
import type { BuildKey } from '../wire/build-key.js';
import type { KeptPeople } from '../wire/people.js';
import { segment, type Segments } from '../wire/segments.js';
import { digest } from './digest.js';
import { commit } from './commit.js';
import { install, installed } from './install.js';
import type { Store } from './open.js';
import type { Millis, SplitRecord } from './records.js';

/** ci_build_id null: a fixed split, the same for every CI build of the triple. */
export function splitKey(project: number, key: BuildKey, ci_build_id: string | null): string {
  return digest(project, key.commit_hash, key.branch, key.node_total, ci_build_id);
}

export function findSplit(store: Store, key: string): SplitRecord | null {
  return store.splits.get(key) ?? null;
}

/** The same, when it is on disk. */
export async function findSplitOnDisk(store: Store, key: string): Promise<SplitRecord | null> {
  await installed(store, nameOf(key));
  return findSplit(store, key);
}

const nameOf = (key: string) => `split ${key}`;

/**
 * Notes that a split is in use, which then does not expire.
 *
 * @param ci_build_id who uses a fixed one, which is kept; null: it is no fixed one
 */
export async function useSplit(store: Store, key: string, split: SplitRecord, ci_build_id: string | null, now: Millis): Promise<void> {
  const isDue = now - split.used_at >= limits.renewMilliseconds;
  // All nodes of a CI build ask: its digest and a look at the store once are enough.
  const user = ci_build_id === null ? null : `${split.id} ${ci_build_id}`;
  if (!isDue && (user === null || store.splitUsers.get(user))) return;
  const run: SplitRun | null = ci_build_id === null ? null : runOf(split, ci_build_id);
  if (isDue || (run && !store.splitRuns.doesExist(run))) {
    await commit(store, () => {
      if (store.splits.get(key)?.id !== split.id) return;
      if (isDue) void store.splits.put(key, { ...split, used_at: now });
      if (run && !store.splitRuns.doesExist(run)) void store.splitRuns.put(run, now);
    });
  }
  if (user !== null) store.splitUsers.set(user, true);
}

/** When a CI build first asked for a fixed split; undefined: it did not. */
export function firstUseOf(store: Store, split: SplitRecord, ci_build_id: string): Millis | undefined {
  return store.splitRuns.get(runOf(split, ci_build_id));
}

type SplitRun = [split: string, ci_build: string];

function runOf({ id }: SplitRecord, ci_build_id: string): SplitRun {
  return [id, digest(ci_build_id)];
}

/** The answer to a node; undefined when the split expired. */
export function answerOfSplit(store: Store, split: SplitRecord, node_index: number): Buffer | undefined {
  return store.blobs.get([split.id, node_index]);
}

/** What a split starts with. */
export interface SplitPlan {
  id: string;
  people: KeptPeople;
  /** The answer to each node, as JSON. */
  answers: Segments;
  forecast: Forecast;
}

/** Installs a split unless another request was faster; returns the one in force. */
export async function installSplit(
  store: Store,
  key: string,
  split: SplitRecord,
  { answers, forecast }: SplitPlan,
  ci_build_id: string | null = null,
): Promise<SplitRecord> {
  const { id, created_at, node_total: count } = split;
  const inForce = await install(store, {
    name: nameOf(key),
    expiry: [created_at, 'split', key, id],
    find: () => findSplit(store, key),
    pieces: () => ({ owner: id, count, piece: node => ({ part: node, bytes: segment(answers, node) }) }),
    put() {
      void store.splits.put(key, split);
      void store.forecasts.put(id, { v: 1, ...forecast });
      if (ci_build_id !== null) void store.splitRuns.put(runOf(split, ci_build_id), created_at);
      return split;
    },
  });
  return inForce!;
}
