import { limits } from '../../../limits.js';
import type { Parts } from '../parts.js';
import { ownerOfFiles } from '../shared-files.js';
import type { ExpiryKey, Tables } from '../tables.js';
import type { Committing } from './commit.js';
import { putInChunks } from './put-in-chunks.js';

/** The blobs of a split or queue: blob i of `count` is put under [its id, part]. */
export interface Blobs {
  count: number;
  blob(i: number): Blob;
}

export interface Blob {
  part: number | string;
  bytes: Buffer;
}

/** What reads blobs. */
export type BlobParts = Pick<Parts, 'blobs' | 'blobsRead' | 'filesOf' | 'fileOwners'>;

/** Reads a blob of a split or queue. */
export function readBlob(parts: BlobParts, id: string, part: number | string): Buffer | undefined {
  return parts.blobs.get([ownerOfFiles(parts, id), part]);
}

/** The same through a cache: nodes read the same blobs shortly after each other. */
export function readBlobAgain(parts: BlobParts, id: string, part: number): Buffer | undefined {
  const { blobs, blobsRead } = parts;
  const owner = ownerOfFiles(parts, id);
  const known = blobsRead.get(owner, part);
  if (known) return known;
  const bytes = blobs.get([owner, part]);
  if (bytes) blobsRead.add(owner, part, bytes);
  return bytes;
}

/** The range of all keys [owner, ...], whether their second parts are numbers or names. */
export function entriesOf(owner: string): object {
  return { start: [owner, -Infinity], end: [owner, '\u{10FFFF}'] };
}

/**
 * Puts blobs, some in each turn of the event loop, and resolves when they are on disk. They are not put in a transaction, which would
 * compress them in this thread. Nothing refers to them yet; if nothing ever does, they expire by `expiry`.
 */
export async function putBlobs(
  parts: Pick<Tables, 'blobs' | 'expiry'> & Pick<Committing, 'diskSpace'>,
  owner: string,
  { count, blob }: Blobs,
  expiry: ExpiryKey,
): Promise<void> {
  await putInChunks(Array(count).keys(), i => {
    parts.diskSpace.assert();
    // Put again in each turn, because the puts of another turn may fail.
    if (i % limits.putsPerTurn === 0) parts.expiry.put(expiry, true).catch(() => {});
    const { part, bytes } = blob(i);
    return parts.blobs.put([owner, part], bytes);
  });
}

/** Removes the blobs of an owner and their entry in `expiry`. */
export async function removeBlobs({ blobs, expiry }: Pick<Tables, 'blobs' | 'expiry'>, owner: string, key: ExpiryKey): Promise<void> {
  await removeEntries(blobs, owner);
  await expiry.remove(key);
}

/** A table whose keys begin with the id of a split or queue. */
export type OwnedTable = Tables['blobs'] | Tables['batches'] | Tables['splitRuns'];

/** Removes all entries [owner, ...]. */
export function removeEntries(table: OwnedTable, owner: string): Promise<void> {
  return putInChunks([...table.getKeys(entriesOf(owner))], key => (table as Tables['blobs']).remove(key as never));
}
