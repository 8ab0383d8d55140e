import type { Parts } from '../parts.js';
import { storedFilesOf } from '../shared-files.js';
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
export type BlobParts = Pick<Parts, 'blobs' | 'blobsRead' | 'filesOf' | 'storedFiles'>;

/** The files of a plan are in at most this many blobs, unless these would have more files each. */
const FEW_BLOBS = 16;
const FILES_PER_BLOB = 1024;

/**
 * How many pieces of the files of a plan go to one blob. A put takes the serving thread 25 us however small it is, but a blob is read as a
 * whole.
 */
export function piecesPerBlob(pieces: number, files: number): number {
  const blobs = Math.max(FEW_BLOBS, Math.ceil(files / FILES_PER_BLOB));
  return Math.max(1, Math.ceil(pieces / blobs));
}

/** Reads a blob of a split or queue. */
export function readBlob(parts: BlobParts, id: string, part: number | string): Buffer | undefined {
  return parts.blobs.get([storedFilesOf(parts, id).owner, part]);
}

/** Reads a blob of an owner through a cache: nodes read the same blobs shortly after each other. */
export function readBlobAgain({ blobs, blobsRead }: Pick<Parts, 'blobs' | 'blobsRead'>, owner: string, part: number): Buffer | undefined {
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
 * Puts blobs, and resolves when they are on disk. They are not put in a transaction, which would compress them in this thread. Nothing
 * refers to them yet; if nothing ever does, they expire by `expiry`.
 */
export async function putBlobs(
  parts: Pick<Tables, 'blobs' | 'expiry'> & Pick<Committing, 'diskSpace'>,
  owner: string,
  { count, blob }: Blobs,
  expiry: ExpiryKey,
): Promise<void> {
  parts.diskSpace.assert();
  const puts: Promise<boolean>[] = [parts.expiry.put(expiry, true)];
  for (let i = 0; i < count; i++) {
    const { part, bytes } = blob(i);
    puts.push(parts.blobs.put([owner, part], bytes));
  }
  await Promise.all(puts);
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
