import { limits } from '../../limits.js';
import type { ExpiryKey, Parts } from './open.js';
import { putInChunks } from './put-in-chunks.js';

/** What a plan puts into `blobs`: piece i of the count under [owner, part]. */
export interface Blobs {
  owner: string;
  count: number;
  piece(i: number): Blob;
}

export interface Blob {
  part: number | string;
  bytes: Buffer;
}

/** All keys [owner, ...], be the parts numbers or names. */
export function entriesOf(owner: string): object {
  return { start: [owner, -Infinity], end: [owner, '\u{10FFFF}'] };
}

/**
 * Puts the pieces, some in a turn, so that nobody waits for all of them at once; resolves when they are on disk. Not in a
 * transaction: that would compress them in this thread. Nobody finds them yet: should that never happen, they expire by
 * the key given.
 */
export async function putBlobs(store: Parts, { owner, count, piece }: Blobs, expiry: ExpiryKey): Promise<void> {
  await putInChunks(Array(count).keys(), i => {
    store.diskSpace.assert();
    // With each turn: of several one may fail.
    if (i % limits.putsPerTurn === 0) store.expiry.put(expiry, true).catch(() => {});
    const { part, bytes } = piece(i);
    return store.blobs.put([owner, part], bytes);
  });
}

/** Takes back what was put. */
export async function removeBlobs(store: Parts, owner: string, expiry: ExpiryKey): Promise<void> {
  await removeEntries(store.blobs, owner);
  await store.expiry.remove(expiry);
}

/** Removes all entries [owner, ...]. */
export function removeEntries(table: Parts['blobs'] | Parts['batches'] | Parts['splitRuns'], owner: string): Promise<void> {
  return putInChunks([...table.getKeys(entriesOf(owner))], key => (table as Parts['blobs']).remove(key as never));
}
