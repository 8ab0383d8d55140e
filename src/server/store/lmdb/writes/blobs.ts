import type { EncodedPart } from '../../codecs/plan-parts.js';
import type { ExpiryKey } from '../records.js';
import type { Tables } from '../tables.js';
import { putInChunks } from './commit.js';

/** All blobs of a split or queue, to be put under another id. */
export function blobsOf({ blobs }: Pick<Tables, 'blobs'>, id: string): EncodedPart[] {
  return Array.from(blobs.getRange(entriesOf(id)), ({ key: [, part], value: bytes }) => ({ part, bytes }));
}

/** The range of all keys [owner, ...], whether their second parts are numbers or names. */
export function entriesOf(owner: string): object {
  return { start: [owner, -Infinity], end: [owner, '\u{10FFFF}'] };
}

/**
 * Puts blobs, and resolves when they are on disk. They are not put in a transaction, which would copy them in this thread. Nothing
 * refers to them yet; if nothing ever does, they expire by `expiry`.
 */
export async function putBlobs(
  { blobs, expiry: expiring }: Pick<Tables, 'blobs' | 'expiry'>,
  owner: string,
  parts: readonly EncodedPart[],
  expiry: ExpiryKey,
): Promise<void> {
  await Promise.all([expiring.put(expiry, true), ...parts.map(({ part, bytes }) => blobs.put([owner, part], bytes))]);
}

/** Removes the blobs of an owner and their entry in `expiry`. */
export async function removeBlobs({ blobs, expiry }: Pick<Tables, 'blobs' | 'expiry'>, owner: string, key: ExpiryKey): Promise<void> {
  await removeEntries(blobs, owner);
  await expiry.remove(key);
}

/** A table whose keys begin with the id of a split, queue or CI run. */
export type OwnedTable = Tables['blobs'] | Tables['batches'] | Tables['splitRuns'] | Tables['nodes'] | Tables['spared'];

/** Removes all entries [owner, ...]. */
export function removeEntries(table: OwnedTable, owner: string): Promise<void> {
  return putInChunks([...table.getKeys(entriesOf(owner))], key => (table as Tables['blobs']).remove(key as never));
}
