import { buildDigest } from '../../engine/keys.js';
import type { Millis } from '../../engine/ports/store.js';
import { withoutRun } from '../../engine/recordings.js';
import { expiryOfRest } from '../../engine/retention.js';
import { unindexBuild } from './build-index.js';
import { runsOf } from './builds.js';
import { subsetCount, subsetHead } from './codecs/subset-codec.js';
import type { ExpiryProgress, RunKey } from './records.js';
import type { Tables } from './tables.js';

/** A part of the expiry of a build. */
interface Step {
  /** How many runs were deleted. */
  runs: number;
  /** How many records were read or changed. A large run counts as several. */
  work: number;
  /** Where to go on; null: all runs were looked at. */
  progress: ExpiryProgress | null;
  /** When the rest of the build expires; null: nothing is left, or not all runs were looked at. */
  next: Millis | null;
}

/** Deletes the runs of a build that are older than `before`, within a write transaction, until `most` is reached. */
export function expireRuns(tables: Tables, build: number, before: Millis, most: number, { after, oldest }: ExpiryProgress): Step {
  const { subsets, builds } = tables;
  const range = after ? { ...runsOf(build), start: [build, after[0], after[1] + 1] as RunKey } : runsOf(build);
  const limit = Math.max(1, most);
  const keys = [...subsets.getKeys({ ...range, limit })];
  let [runs, work, seen] = [0, 0, 0];
  for (const key of keys) {
    if (work >= limit) break;
    seen += 1;
    const { created_at } = subsetHead(subsets.getBinaryFast(key)!);
    if (created_at < before) {
      runs += 1;
      work += deleteSubset(tables, key);
    } else {
      work += 1;
      oldest = Math.min(created_at, oldest ?? created_at);
    }
  }
  if (seen === limit || seen < keys.length) {
    const [, ...last] = keys[seen - 1]!;
    return { runs, work, progress: { after: last, oldest }, next: null };
  }
  const left = builds.get(build);
  return { runs, work, progress: null, next: left ? expiryOfRest(left, oldest, before) : null };
}

/** Deletes a run within a write transaction, and its build with the last one. Returns how many records it changed. */
function deleteSubset(tables: Tables, key: RunKey): number {
  const bytes = tables.subsets.get(key);
  const build = tables.builds.get(key[0]);
  if (!bytes) return 0;
  void tables.subsets.remove(key);
  if (!build) return 1;
  const left = withoutRun(build, subsetCount(bytes));
  if (left) {
    void tables.builds.put(key[0], { ...build, ...left });
    return 2 + (bytes.length >> 12);
  }
  void tables.builds.remove(key[0]);
  void tables.summaries.remove(key[0]);
  // If the build is created again, its runs count as later than all runs of this one.
  void tables.meta.put('lastOrdinal', Math.max(build.recorded, tables.meta.get('lastOrdinal') ?? 0));
  void tables.buildNumbers.remove(buildDigest(build.project, build));
  void tables.buildNumbers.remove(build.id);
  return 5 + (bytes.length >> 12) + unindexBuild(tables, build);
}
