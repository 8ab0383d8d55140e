import { limits } from '../limits.js';
import type { Forecast } from '../plan/forecast.js';
import type { BuildKey } from '../wire/build-key.js';
import { segment, type Segments } from '../wire/segments.js';
import { digest } from './digest.js';
import { commit, type Store } from './open.js';
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

/** The JSON array of the node's test files. */
export function nodeOfSplit(store: Store, split: SplitRecord, node_index: number): Buffer {
  return store.blobs.get([split.id, node_index])!;
}

/** What a split starts with. */
export interface SplitPlan {
  /** JSON of each node's test files. */
  nodes: Segments;
  forecast: Forecast;
}

/** Installs a split unless another request was faster; returns the one in force. */
export function installSplit(
  store: Store,
  key: string,
  split: SplitRecord,
  { nodes, forecast }: SplitPlan,
): Promise<SplitRecord> {
  return commit(store, () => {
    const installed = store.splits.get(key);
    if (installed) return installed;
    for (let node = 0; node < split.node_total; node++) {
      void store.blobs.put([split.id, node], segment(nodes, node));
    }
    void store.splits.put(key, split);
    void store.forecasts.put(split.id, { v: 1, ...forecast });
    void store.expiry.put([split.created_at, 'split', key, split.id], true);
    return split;
  });
}
