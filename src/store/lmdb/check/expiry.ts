import { removeEntries } from '../blobs.js';
import type { ExpiryKey, Parts } from '../open.js';
import type { RunKey } from '../records.js';
import type { Problem, Seen } from './problem.js';

/** That splits and queues expire, that nothing else of theirs stays behind, and that what expires is there. */
export function* problemsOfExpiry(store: Parts, seen: Seen): Generator<Problem> {
  const expiring = new Set<string>();
  for (const key of store.expiry.getKeys()) {
    seen('expiry');
    const [, kind, ...of] = key;
    if (kind === 'split') expiring.add(of[1] as string);
    else if (kind === 'queue') expiring.add(of[0] as string);
    else if (kind !== 'subset') yield { table: 'expiry', key, what: 'is of a kind that is not known', repair: null };
    else if (!store.subsets.doesExist(of as RunKey)) yield gone(store, key);
  }
  const splits = new Set<string>();
  for (const {
    key,
    value: { id, used_at },
  } of store.splits.getRange()) {
    splits.add(id);
    if (!expiring.has(id)) yield unending(store, 'splits', key, [used_at, 'split', key, id]);
  }
  const keys = new Map([...store.queuesOfNodeBuild.getRange()].map(({ key, value }) => [value, key]));
  for (const {
    key: id,
    value: { used_at, name },
  } of store.queues.getRange()) {
    if (!expiring.has(id)) yield unending(store, 'queues', id, [used_at, 'queue', id, keys.get(id) ?? name]);
  }
  const owns = (owner: string) => splits.has(owner) || store.queues.doesExist(owner);
  for (const owner of ownersIn(store.blobs)) {
    seen('blobs');
    if (owns(owner) || expiring.has(owner)) continue;
    const repair = () => removeEntries(store.blobs, owner);
    yield { table: 'blobs', key: owner, what: 'is of no split or queue, and would never expire', repair };
  }
  for (const owner of store.forecasts.getKeys()) {
    if (owns(owner)) continue;
    yield { table: 'forecasts', key: owner, what: 'is of no split or queue', repair: () => store.forecasts.remove(owner) };
  }
  for (const owner of ownersIn(store.splitRuns)) {
    seen('splitRuns');
    if (splits.has(owner) || expiring.has(owner)) continue;
    const repair = () => removeEntries(store.splitRuns, owner);
    yield { table: 'splitRuns', key: owner, what: 'is of no split, and would never expire', repair };
  }
  for (const queue of ownersIn(store.batches)) {
    seen('batches');
    if (store.queues.doesExist(queue) || expiring.has(queue)) continue;
    const repair = () => removeEntries(store.batches, queue);
    yield { table: 'batches', key: queue, what: 'is of no queue, and would never expire', repair };
  }
}

function gone(store: Parts, key: ExpiryKey): Problem {
  return { table: 'expiry', key, what: 'is of what is not there', repair: () => store.expiry.remove(key) };
}

function unending(store: Parts, table: string, key: unknown, expiry: ExpiryKey): Problem {
  return { table, key, what: 'would never expire', repair: () => store.expiry.put(expiry, true) };
}

/** The first part of each key, once. */
function* ownersIn(table: Parts['blobs'] | Parts['batches'] | Parts['splitRuns']): Generator<string> {
  for (let start: [string, number] | null = ['', -Infinity]; start; ) {
    const [first] = [...table.getKeys({ start, limit: 1 } as object)] as [string, unknown][];
    if (!first) return;
    yield first[0];
    // Behind all of its entries, whose second parts are numbers and names.
    start = [`${first[0]}\0`, -Infinity];
  }
}
