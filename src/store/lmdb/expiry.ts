import type { ExpiringKind } from '../../engine/ports/maintenance.js';
import type { Millis } from '../../engine/ports/store.js';
import { isPathExpired, putOffUntil } from '../../engine/retention.js';
import { limits } from '../../limits.js';
import { deleteCiRun } from './ci-runs.js';
import { pathKey } from './codecs/path-keys.js';
import { headOfTimings } from './codecs/timing-codec.js';
import { EXPIRED } from './deleted-projects.js';
import { expireRuns } from './expire-runs.js';
import type { Parts } from './parts.js';
import type { ExpiryProgress } from './records.js';
import type { DayKey, ExpiryKey, Tables } from './tables.js';
import { entriesOf, type OwnedTable } from './writes/blobs.js';
import { commit } from './writes/commit.js';

/** Called with the kind of each record that is deleted. */
export type Count = (kind: ExpiringKind) => void;

/**
 * Makes one step of the sweep: deletes about `limits.expiredPerStep` records that are older than `before` or EXPIRED. Resolves with
 * whether more may be left. The table `expiry` has the kinds and keys of expiring records, by time:
 *   build         build number                         one entry for all its runs, by the time of the oldest
 *   split         key in splits, split id
 *   queue         queue id, key in queuesOfNodeBuild
 *   ci_run        id
 *   ci_run        project, id                          by the time when it began
 *   day           key in days
 *
 * @param drop called with the key of each queue that expires
 */
export function expireStep(parts: Parts, before: Millis, drop: (key: string) => void, count: Count = () => {}): Promise<boolean> {
  return commit(parts, () => {
    let left: number = limits.expiredPerStep;
    const due = [...parts.expiry.getKeys({ end: [before, ''] as ExpiryKey, limit: left })];
    if (due.length > 0) parts.runs.forgetBuilds();
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
  const limit = limits.pathsPerStep;
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
    case 'ci_run':
      deleteCiRun(tables, first);
      return ONE;
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
