import { limits } from '../limits.js';
import type { Forecast } from '../plan/forecast.js';
import type { BuildKey } from '../wire/build-key.js';
import type { KeptPeople } from '../wire/people.js';
import { segment, type Segments } from '../wire/segments.js';
import { digest } from './digest.js';
import { commit } from './commit.js';
import { install } from './install.js';
import type { Store } from './open.js';
import type { Millis, SplitRecord } from './records.js';

/** ci_build_id null: a fixed split, the same for every CI build of the triple. */
export function splitKey(project: number, key: BuildKey, ci_build_id: string | null): string {
  return digest(project, key.commit_hash, key.branch, key.node_total, ci_build_id);
}

export function findSplit(store: Store, key: string): SplitRecord | null {
  return store.splits.get(key) ?? null;
}

/** A split in use does not expire. */
export async function useSplit(store: Store, key: string, split: SplitRecord, now: Millis): Promise<void> {
  if (now - split.used_at < limits.renewMilliseconds) return;
  await commit(store, () => {
    if (store.splits.get(key)?.id === split.id) void store.splits.put(key, { ...split, used_at: now });
  });
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
): Promise<SplitRecord> {
  const { id, created_at, node_total: count } = split;
  const inForce = await install(store, {
    name: `split ${key}`,
    expiry: [created_at, 'split', key, id],
    find: () => findSplit(store, key),
    pieces: () => ({ owner: id, count, piece: node => ({ part: node, bytes: segment(answers, node) }) }),
    put() {
      void store.splits.put(key, split);
      void store.forecasts.put(id, { v: 1, ...forecast });
      return split;
    },
  });
  return inForce!;
}
