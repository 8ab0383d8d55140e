import { limits } from '../../../limits.js';
import type { Parts } from '../parts.js';
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
export type BlobParts = Pick<Parts, 'blobs' | 'blobsRead' | 'blobSteps'>;

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
export function readBlob({ blobs }: BlobParts, id: string, part: number | string): Buffer | undefined {
  return blobs.get([id, part]);
}

/** The difference between the keys of two blobs of files: how many nodes of a split, or times 64 files of a queue, are in each. */
export function blobStepOf({ blobs, blobSteps }: BlobParts, id: string): number {
  const known = blobSteps.get(id);
  if (known !== undefined) return known;
  const [first, second] = blobs.getKeys({ start: [id, 0], end: [id, Infinity], limit: 2 });
  // Without the first, they are being deleted.
  const step = first?.[1] === 0 && second ? (second[1] as number) : 1;
  if (blobSteps.size >= limits.cachedBlobSteps) blobSteps.clear();
  blobSteps.set(id, step);
  return step;
}

/** All blobs of a split or queue, to be put under another id. */
export function blobsOf({ blobs }: BlobParts, id: string): Blobs {
  const keys = [...blobs.getKeys(entriesOf(id))];
  return { count: keys.length, blob: i => ({ part: keys[i]![1], bytes: blobs.get(keys[i]!)! }) };
}

/** Reads a blob of an owner through a cache: nodes read the same blobs shortly after each other. */
export function readBlobAgain({ blobs, blobsRead }: Pick<Parts, 'blobs' | 'blobsRead'>, owner: string, part: number): Buffer | undefined {
  const key = `${owner} ${part}`;
  const known = blobsRead.get(key);
  if (known) return known;
  const bytes = blobs.get([owner, part]);
  if (bytes) blobsRead.set(key, bytes);
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
