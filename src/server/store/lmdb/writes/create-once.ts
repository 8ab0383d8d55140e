import { refusals } from '../../../engine/refusal.js';
import type { EncodedPart } from '../../codecs/plan-parts.js';
import type { Parts } from '../parts.js';
import type { ExpiryKey } from '../records.js';
import { entriesOf, putBlobs, removeBlobs } from './blobs.js';
import { type Committing, commit, flushed, written } from './commit.js';

/** A split or queue that many nodes request concurrently, and that is created once. */
export interface Creation<T> {
  /** Only one creation of a name runs at a time. */
  name: string;
  id: string;
  project: number;
  expiry: ExpiryKey;
  /** Parts of the record, which are put before the record can be found. */
  blobs(): EncodedPart[];
  /** Returns the existing record; null: there is none. */
  find(): T | null;
  /**
   * Puts the records by which it is found, and sees all runs of the project that were recorded. Null: it can no longer be created, and nothing was
   * put. It may run outside a transaction: it puts new records only, and changes none that it read.
   */
  put(): T | null;
}

type CreationParts = Pick<Parts, 'creations' | 'blobs' | 'expiry' | 'runs'> & Committing;

/** Creates a record unless it exists. Resolves with the record, which is then on disk. Throws a 503 when the write fails. */
export async function createOnce<T>(parts: CreationParts, creation: Creation<T>): Promise<T | null> {
  const { creations } = parts;
  const { name, find } = creation;
  // No other creation begins between this search and the creation, because both are in one turn of the event loop.
  while (creations.has(name)) await creationSettled(parts, name);
  const existing = find();
  if (existing !== null) return existing;
  const created = create(parts, creation).finally(() => creations.delete(name));
  creations.set(name, created);
  return created;
}

/** Resolves when no creation of a name is under way. A record found then is on disk; before, a kill might lose it. */
export async function creationSettled({ creations }: Pick<Parts, 'creations'>, name: string): Promise<void> {
  // All callers that wait for a creation get its failure, because a retry for each would fail, too.
  await creations.get(name);
}

async function create<T>(parts: CreationParts, creation: Creation<T>): Promise<T | null> {
  const { id, project, expiry } = creation;
  // Before anything is put: nothing may be found of what does not fit on the disk.
  parts.diskSpace.assert();
  const blobs = creation.blobs();
  let mayBeFound = false;
  const put = () => {
    const created = creation.put();
    mayBeFound = created !== null;
    return created;
  };
  try {
    // Either way all puts are in one turn of the event loop, so they are one transaction.
    if (parts.runs.hasSettled(project)) {
      const created = put();
      await flushed(parts, putBlobs(parts, id, blobs, expiry));
      return created;
    }
    // Only a transaction with a callback puts the runs that wait, and it takes the serving thread as long as all puts of a queue.
    const ahead = written(putBlobs(parts, id, blobs, expiry));
    const change = commit(parts, () => {
      if (parts.blobs.getKeysCount(entriesOf(id)) < blobs.length) throw refusals.storeFailed(new Error('blobs that were put are missing'));
      return put();
    });
    return (await Promise.all([change, ahead]))[0];
  } finally {
    // If this fails as well, the blobs expire.
    if (!mayBeFound) await removeBlobs(parts, id, expiry).catch(() => {});
  }
}
