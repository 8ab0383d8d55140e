import type { DayKey, ExpiryKey, Tables } from '../tables.js';
import { type OwnedTable, removeEntries } from '../writes/blobs.js';
import type { Problem, Seen } from './problem.js';

/** Problems of expiry: splits and queues that never expire, records that they left behind, and entries of missing records. */
export function* problemsOfExpiry(tables: Tables, seen: Seen): Generator<Problem> {
  const expiring = new Set<string>();
  for (const key of tables.expiry.getKeys()) {
    seen('expiry');
    const [, kind, ...owner] = key;
    if (kind === 'split') expiring.add(owner[1] as string);
    else if (kind === 'queue') expiring.add(owner[0] as string);
    else if (kind === 'build') {
      if (!tables.builds.doesExist(owner[0] as number)) yield dangling(tables, key);
    } else if (kind === 'ci_run') {
      if (!tables.ciRunKeys.doesExist(owner[0] as string)) yield dangling(tables, key);
    } else if (kind === 'day') {
      if (!tables.days.doesExist(owner as DayKey)) yield dangling(tables, key);
    } else yield { table: 'expiry', key, what: 'has an unknown kind', repair: null };
  }
  const splits = new Set<string>();
  for (const {
    key,
    value: { id, used_at },
  } of tables.splits.getRange()) {
    splits.add(id);
    if (!expiring.has(id)) yield unending(tables, 'splits', key, [used_at, 'split', key, id]);
  }
  const keys = new Map([...tables.queuesOfNodeBuild.getRange()].map(({ key, value }) => [value, key]));
  for (const {
    key: id,
    value: { used_at, name },
  } of tables.queues.getRange()) {
    if (!expiring.has(id)) yield unending(tables, 'queues', id, [used_at, 'queue', id, keys.get(id) ?? name]);
  }
  const owns = (owner: string) => splits.has(owner) || tables.queues.doesExist(owner);
  const exists = (id: string) => owns(id) || expiring.has(id);
  for (const owner of ownersIn(tables.blobs)) {
    seen('blobs');
    if (exists(owner)) continue;
    const repair = () => removeEntries(tables.blobs, owner);
    yield { table: 'blobs', key: owner, what: 'is of no split or queue, and would never expire', repair };
  }
  for (const owner of tables.forecasts.getKeys()) {
    if (owns(owner)) continue;
    yield { table: 'forecasts', key: owner, what: 'is of no split or queue', repair: () => tables.forecasts.remove(owner) };
  }
  for (const owner of ownersIn(tables.splitRuns)) {
    seen('splitRuns');
    if (splits.has(owner) || expiring.has(owner)) continue;
    const repair = () => removeEntries(tables.splitRuns, owner);
    yield { table: 'splitRuns', key: owner, what: 'is of no split, and would never expire', repair };
  }
  for (const queue of ownersIn(tables.batches)) {
    seen('batches');
    if (tables.queues.doesExist(queue) || expiring.has(queue)) continue;
    const repair = () => removeEntries(tables.batches, queue);
    yield { table: 'batches', key: queue, what: 'is of no queue, and would never expire', repair };
  }
}

function dangling(tables: Tables, key: ExpiryKey): Problem {
  return { table: 'expiry', key, what: 'is of something that does not exist', repair: () => tables.expiry.remove(key) };
}

function unending(tables: Tables, table: string, key: unknown, expiry: ExpiryKey): Problem {
  return { table, key, what: 'would never expire', repair: () => tables.expiry.put(expiry, true) };
}

/** Returns the first part of each key, once. */
function* ownersIn(table: OwnedTable): Generator<string> {
  for (let start: [string, number] | null = ['', -Infinity]; start; ) {
    const [first] = [...table.getKeys({ start, limit: 1 } as object)] as [string, unknown][];
    if (!first) return;
    yield first[0];
    // After all entries of this owner, whose second parts are numbers or names.
    start = [`${first[0]}\0`, -Infinity];
  }
}
