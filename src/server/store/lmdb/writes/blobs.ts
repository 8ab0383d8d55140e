import { LRUCache } from 'lru-cache';
import { memoryBounds } from '../../../engine/memory-bounds.js';
import type { EncodedPart } from '../../codecs/plan-parts.js';
import type { ExpiryKey } from '../records.js';
import type { Tables } from '../tables.js';
import { type Committing, putInChunks } from './commit.js';

/** The tables of a reader of blobs. */
export interface BlobParts extends Pick<Tables, 'blobs'> {
  /** A cache of the blobs that were read, by their owner. A blob never changes. */
  readonly blobsRead: LRUCache<string, ReadBlobs>;
}

/** The blobs of an owner that were read, and their memory. To look a part up here is ten times as fast as under a key of both. */
interface ReadBlobs {
  bytes: number;
  parts: Map<EncodedPart['part'], Buffer>;
}

/** Memory of a blob in the cache besides its bytes. */
const OVERHEAD_BYTES = 400;

/** Creates the cache of a store. */
export const blobCache = () => new LRUCache<string, ReadBlobs>({ maxSize: memoryBounds.fileBlobs, sizeCalculation: ({ bytes }) => bytes });

/** Reads a blob through a cache: nodes read the same blobs shortly after each other. */
export function readBlob({ blobs, blobsRead }: BlobParts, owner: string, part: EncodedPart['part']): Buffer | undefined {
  const read = blobsRead.get(owner) ?? { bytes: 0, parts: new Map<EncodedPart['part'], Buffer>() };
  const cached = read.parts.get(part);
  if (cached) return cached;
  const blob = blobs.get([owner, part]);
  if (!blob) return undefined;
  read.parts.set(part, blob);
  // The cache measures an entry when it is set.
  blobsRead.set(owner, { ...read, bytes: read.bytes + OVERHEAD_BYTES + blob.length });
  return blob;
}

/** All blobs of a split or queue, to be put under another id. */
export function blobsOf({ blobs }: Pick<Tables, 'blobs'>, id: string): EncodedPart[] {
  return Array.from(blobs.getRange(entriesOf(id)), ({ key: [, part], value: bytes }) => ({ part, bytes }));
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
  blobs: readonly EncodedPart[],
  expiry: ExpiryKey,
): Promise<void> {
  parts.diskSpace.assert();
  await Promise.all([parts.expiry.put(expiry, true), ...blobs.map(({ part, bytes }) => parts.blobs.put([owner, part], bytes))]);
}

/** Removes the blobs of an owner and their entry in `expiry`. */
export async function removeBlobs({ blobs, expiry }: Pick<Tables, 'blobs' | 'expiry'>, owner: string, key: ExpiryKey): Promise<void> {
  await removeEntries(blobs, owner);
  await expiry.remove(key);
}

/** A table whose keys begin with the id of a split, queue or CI run. */
export type OwnedTable = Tables['blobs'] | Tables['batches'] | Tables['splitRuns'] | Tables['jobs'];

/** Removes all entries [owner, ...]. */
export function removeEntries(table: OwnedTable, owner: string): Promise<void> {
  return putInChunks([...table.getKeys(entriesOf(owner))], key => (table as Tables['blobs']).remove(key as never));
}
