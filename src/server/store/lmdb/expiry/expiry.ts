import { buildDigest } from '../../../engine/keys.js';
import type { ExpiringKind } from '../../../engine/ports/maintenance.js';
import type { Millis } from '../../../engine/ports/store.js';
import { withoutRun } from '../../../engine/recordings.js';
import { EXPIRED_PER_STEP, expiryOfRest, isPathExpired, putOffUntil } from '../../../engine/retention.js';
import { pathKey } from '../../codecs/path-keys.js';
import { fileCount } from '../../codecs/run-times.js';
import { headOfTimings } from '../../codecs/timing-codec.js';
import { removeFromIndex } from '../build-index.js';
import { runsOf } from '../builds.js';
import { deleteCiRun } from '../ci-runs.js';
import type { Parts } from '../parts.js';
import type { CasesKey, DayKey, ExpiryKey, ExpiryProgress, RunKey } from '../records.js';
import type { Tables } from '../tables.js';
import { entriesOf, type OwnedTable } from '../writes/blobs.js';
import { commit } from '../writes/commit.js';
import { EXPIRED, PATHS_PER_STEP } from './deleted-projects.js';

/** Called with the kind of each record that is deleted. */
export type Count = (kind: ExpiringKind) => void;

/**
 * Makes one step of the sweep: deletes about `EXPIRED_PER_STEP` records that are older than `before` or EXPIRED. Resolves with
 * whether more may be left. The table `expiry` has the kinds and keys of expiring records, by time:
 *   build         build number                         one entry for all its runs, by the time of the oldest
 *   split         key in splits, split id
 *   queue         queue id, key in queuesOfNodeBuild
 *   ci_run        id
 *   ci_run        project, id                          by the time when it began
 *   day           key in days
 *   cases         key in cases
 *
 * @param drop called with the key of each queue that expires
 */
export function expireStep(parts: Parts, before: Millis, drop: (key: string) => void, count: Count = () => {}): Promise<boolean> {
  return commit(parts, () => {
    let left: number = EXPIRED_PER_STEP;
    const due = [...parts.expiry.getKeys({ end: [before, ''] as ExpiryKey, limit: left })];
    for (const entry of due) {
      const [at, kind, ...key] = entry;
      const until = at === EXPIRED ? Infinity : before;
      const done = kind === 'build' ? expireBuild(parts, entry, left, until, count) : expire(parts, kind, key, left, until, drop);
      left -= done.deleted + 1;
      if (done.whole) void parts.expiry.remove(entry);
      if (done.whole && !done.later) count(kind as ExpiringKind);
      if (left <= 0) return true;
    }
    return parts.expiry.getKeysCount({ end: [before, ''] as ExpiryKey, limit: 1 }) > 0;
  });
}

/**
 * Makes one step of the sweep over paths, which are recorded too often for an index by time. Checks some paths after a number and
 * deletes those that were last recorded before `before`, and those of deleted projects. Resolves with the number to continue after; null:
 * it was the last step. It runs after `expireStep`, because recorded runs refer to paths by these numbers.
 */
export async function expirePaths(
  parts: Parts,
  before: Millis,
  after: number,
  count: Count = () => {},
  isDeleted: (project: number) => boolean = () => false,
): Promise<number | null> {
  const { timings, timingBuffer } = parts;
  const limit = PATHS_PER_STEP;
  const isDue = (bytes: Buffer) => {
    const { project, seen_at } = headOfTimings(bytes);
    return isPathExpired(seen_at, before) || isDeleted(project);
  };
  const due: number[] = [];
  let [checked, last] = [0, after];
  for (const { key, value } of timings.getRange({ start: after + 1, limit })) {
    checked += 1;
    last = key;
    if (isDue(value)) due.push(key);
  }
  if (due.length > 0) {
    await commit(parts, () => {
      for (const number of due) {
        // The path may have been recorded or deleted since the check.
        const bytes = timingBuffer.get(number) ? undefined : timings.get(number);
        if (!bytes || !isDue(bytes)) continue;
        deletePath(parts, number, headOfTimings(bytes).project);
        count('path');
      }
    });
  }
  return checked === limit ? last : null;
}

function deletePath({ timings, paths, pathNames, pathNumbers }: Parts, number: number, project: number): void {
  const name = pathNames.get(number);
  void timings.remove(number);
  if (name === undefined) return;
  const path = JSON.parse(name) as string;
  const key = pathKey(project, path);
  void pathNames.remove(number);
  if (paths.get(key) === number) void paths.remove(key);
  pathNumbers.forget(project, path);
}

/** `whole`: the record is gone. `later`: it is in use, or a part of another record, and is not counted. */
type Done = { deleted: number; whole: boolean; later?: true };
const NO_PROGRESS: ExpiryProgress = { after: null, oldest: null };
const ONE: Done = { deleted: 1, whole: true };

function expire(tables: Tables, kind: string, key: (string | number)[], most: number, before: Millis, drop: (key: string) => void): Done {
  const first = key[0] as string;
  switch (kind) {
    case 'ci_run': {
      const owned = deleteOwned([tables.nodes, tables.spared], first, most);
      if (owned.whole) deleteCiRun(tables, first);
      return { ...owned, deleted: owned.deleted + 1 };
    }
    // Large records become unreachable first, and are then deleted piece by piece.
    case 'split': {
      const split = tables.splits.get(first);
      if (split && split.id === key[1]) {
        const until = putOffUntil(split, before);
        if (until !== null) return putOff(tables, until, kind, key);
        void tables.splits.remove(first);
      }
      void tables.forecasts.remove(key[1] as string);
      return deleteOwned([tables.splitRuns, tables.blobs], key[1] as string, most);
    }
    case 'queue': {
      const queue = tables.queues.get(first);
      if (queue) {
        const until = putOffUntil(queue, before);
        if (until !== null) return putOff(tables, until, kind, key);
        removePointer(tables.queuesOfNodeBuild, key[1] as string, first);
        removePointer(tables.queuesOfBuild, queue.build, first);
        void tables.queues.remove(first);
        void tables.forecasts.remove(first);
        drop(key[1] as string);
      }
      return deleteOwned([tables.batches, tables.blobs], first, most);
    }
    case 'day':
      void tables.days.remove(key as DayKey);
      return ONE;
    case 'cases': {
      const report = tables.cases.get(key as CasesKey);
      if (report && report.at >= before) return putOff(tables, report.at, kind, key);
      void tables.cases.remove(key as CasesKey);
      return { ...ONE, later: true };
    }
    default:
      throw new Error(`cannot expire records of the kind "${kind}": it is unknown`);
  }
}

/** Deletes the old runs of a build. They are counted, and not the build. */
function expireBuild(tables: Tables, entry: ExpiryKey, most: number, before: Millis, count: Count): Done {
  const number = entry[2] as number;
  const value = tables.expiry.get(entry)!;
  const { runs, work, progress, next } = expireRuns(tables, number, before, most, value === true ? NO_PROGRESS : value);
  for (let i = 0; i < runs; i++) count('subset');
  if (progress) void tables.expiry.put(entry, progress);
  if (next !== null) void tables.expiry.put([next, 'build', number], true);
  return { deleted: work, whole: !progress, later: true };
}

function putOff(tables: Tables, until: Millis, kind: string, key: (string | number)[]): Done {
  void tables.expiry.put([until, kind, ...key], true);
  return { ...ONE, later: true };
}

/** Removes a pointer to a queue, unless it points to a newer queue. */
function removePointer(table: Tables['queuesOfNodeBuild'], key: string, queue: string): void {
  if (table.get(key) === queue) void table.remove(key);
}

/** Deletes up to `most` entries [owner, ...] of the tables, one after the other; at least one. */
function deleteOwned(tables: readonly OwnedTable[], owner: string, most: number): Done {
  const limit = Math.max(1, most);
  let deleted = 0;
  for (const table of tables) {
    const keys = [...table.getKeys({ ...entriesOf(owner), limit: limit - deleted })];
    for (const key of keys) void (table as Tables['blobs']).remove(key as never);
    deleted += keys.length;
    if (deleted === limit) return { deleted, whole: false };
  }
  return { deleted, whole: true };
}

/** A part of the expiry of a build. */
interface Step {
  /** Number of runs that were deleted. */
  runs: number;
  /** Number of records that were read or changed. A large run counts as several. */
  work: number;
  /** Place to continue at; null: all runs were looked at. */
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
    const { created_at } = subsets.get(key)!;
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
  const run = tables.subsets.get(key);
  const build = tables.builds.get(key[0]);
  if (!run) return 0;
  void tables.subsets.remove(key);
  if (!build) return 1;
  const left = withoutRun(build, fileCount(run));
  if (left) {
    void tables.builds.put(key[0], { ...build, ...left });
    return 2 + (run.times.length >> 12);
  }
  void tables.builds.remove(key[0]);
  void tables.summaries.remove(key[0]);
  void tables.failures.remove([build.project, key[0]]);
  // If the build is created again, its runs count as later than all runs of this one.
  void tables.meta.put('lastOrdinal', Math.max(build.recorded, tables.meta.get('lastOrdinal') ?? 0));
  void tables.buildNumbers.remove(buildDigest(build.project, build));
  void tables.buildNumbers.remove(build.id);
  return 6 + (run.times.length >> 12) + removeFromIndex(tables, build.project, build, key[0]);
}
