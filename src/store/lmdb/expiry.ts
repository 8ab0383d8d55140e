import { limits } from '../../limits.js';
import { entriesOf } from './blobs.js';
import { commit } from './commit.js';
import type { ExpiryKey, Store } from './open.js';
import { pathKey } from './path-keys.js';
import { deleteSubset } from './recording.js';
import type { Millis, RunKey } from './records.js';
import { headOfTimings } from './timing-codec.js';

/**
 * The index by time of what expires once and for all. Kinds and their keys:
 *   subset        build number, node_index, run        its build goes with the last subset
 *   split         key in splits, split id
 *   queue         queue id, key in queuesOfNodeBuild
 *
 * One step of the sweep: deletes at most about `limits.expiredPerStep` records that are older than `before`.
 * Returns whether any may be left. `dropped` is told the key of each queue that is gone, `counted` the kind of each that is deleted.
 */
export function expireStep(store: Store, before: Millis, dropped: (key: string) => void, counted: Counted = () => {}): Promise<boolean> {
  return commit(store, () => {
    let left: number = limits.expiredPerStep;
    const due = [...store.expiry.getKeys({ end: [before, ''] as ExpiryKey, limit: left })];
    for (const entry of due) {
      const [, kind, ...key] = entry;
      const done = expire(store, kind, key, left, before, dropped);
      left -= done.deleted + 1;
      if (done.whole) void store.expiry.remove(entry);
      if (done.whole && !done.later) counted(kind);
      if (left <= 0) return true;
    }
    return due.length === limits.expiredPerStep;
  });
}

/**
 * One step of the sweep over the paths, which are renewed all the time and therefore not indexed by time: looks at some
 * that follow the one given, forgets those that were recorded last before `before`. Returns where to go on, null at
 * the end. After `expireStep`: recorded runs name their paths by what lies here.
 */
export async function expirePaths(store: Store, before: Millis, after: number, counted: Counted = () => {}): Promise<number | null> {
  const limit = limits.pathsPerStep;
  // One that is seen again is noted as such no more often.
  const isOld = (bytes: Buffer) => headOfTimings(bytes).seen_at < before - limits.lastUseUpdateMilliseconds;
  const seen = [...store.timings.getRange({ start: after + 1, limit })];
  const due = seen.filter(({ value }) => isOld(value)).map(({ key }) => key);
  if (due.length > 0) {
    await commit(store, () => {
      // Seen again, or gone with another sweep, since it was looked at.
      for (const number of due) {
        const bytes = store.recent.get(number) ? undefined : store.timings.get(number);
        if (!bytes || !isOld(bytes)) continue;
        forget(store, number, headOfTimings(bytes).project);
        counted('path');
      }
    });
  }
  return seen.length === limit ? seen.at(-1)!.key : null;
}

function forget(store: Store, number: number, project: number): void {
  const name = store.pathNames.get(number);
  void store.timings.remove(number);
  if (name === undefined) return;
  const path = JSON.parse(name) as string;
  const key = pathKey(project, path);
  void store.pathNames.remove(number);
  if (store.paths.get(key) === number) void store.paths.remove(key);
  store.numbers.forget(project, path);
}

/** Told the kind of what is deleted. */
export type Counted = (kind: string) => void;

/** `later`: it was used since, and expires later. */
type Done = { deleted: number; whole: boolean; later?: true };
const ONE: Done = { deleted: 1, whole: true };

function expire(store: Store, kind: string, key: (string | number)[], most: number, before: Millis, dropped: (key: string) => void): Done {
  const first = key[0] as string;
  switch (kind) {
    case 'subset':
      return { deleted: deleteSubset(store, key as RunKey), whole: true };
    // What is large is made unreachable first and then deleted piece by piece.
    case 'split': {
      const split = store.splits.get(first);
      if (split && split.id === key[1]) {
        if (split.used_at >= before) return putOff(store, split.used_at, kind, key);
        void store.splits.remove(first);
      }
      void store.forecasts.remove(key[1] as string);
      const runs = deleteRange(store.splitRuns, key[1] as string, most);
      if (!runs.whole) return runs;
      const blobs = deleteRange(store.blobs, key[1] as string, most);
      return { deleted: runs.deleted + blobs.deleted, whole: blobs.whole };
    }
    case 'queue': {
      const queue = store.queues.get(first);
      if (queue) {
        if (queue.used_at >= before) return putOff(store, queue.used_at, kind, key);
        removePointer(store.queuesOfNodeBuild, key[1] as string, first);
        removePointer(store.queuesOfBuild, queue.build, first);
        void store.queues.remove(first);
        void store.forecasts.remove(first);
        dropped(key[1] as string);
      }
      const batches = deleteRange(store.batches, first, most);
      if (!batches.whole) return batches;
      const blobs = deleteRange(store.blobs, first, most);
      return { deleted: batches.deleted + blobs.deleted, whole: blobs.whole };
    }
    default:
      throw new Error(`nothing of the kind "${kind}" is known to expire`);
  }
}

function putOff(store: Store, until: Millis, kind: string, key: (string | number)[]): Done {
  void store.expiry.put([until, kind, ...key], true);
  return { ...ONE, later: true };
}

/** Unless it points to a newer queue by now. */
function removePointer(table: Store['queuesOfNodeBuild'], key: string, queue: string): void {
  if (table.get(key) === queue) void table.remove(key);
}

/** Deletes up to `most` (at least one) entries [owner, ...]; `whole` when none is left. */
function deleteRange(table: Store['blobs'] | Store['batches'] | Store['splitRuns'], owner: string, most: number): Done {
  const limit = Math.max(1, most);
  const keys = [...table.getKeys({ ...entriesOf(owner), limit })];
  for (const key of keys) void (table as Store['blobs']).remove(key as never);
  return { deleted: keys.length, whole: keys.length < limit };
}
