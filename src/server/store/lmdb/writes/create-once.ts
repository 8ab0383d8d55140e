import { refusals } from '../../../engine/refusal.js';
import type { EncodedPart } from '../../codecs/plan-parts.js';
import type { Parts } from '../parts.js';
import type { ExpiryKey } from '../records.js';
import { entriesOf, putBlobs, removeBlobs } from './blobs.js';
import { type Committing, commit, flushed } from './commit.js';

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
   * put.
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
  const blobs = creation.blobs();
  let mayBeFound = false;
  const put = () => {
    const created = creation.put();
    mayBeFound = created !== null;
    return created;
  };
  const putLater = () => {
    if (parts.blobs.getKeysCount(entriesOf(id)) < blobs.length) throw refusals.storeFailed(new Error('blobs that were put are missing'));
    return put();
  };
  try {
    // The puts, and the change, are in one turn of the event loop, so they are one transaction.
    const ahead = flushed(parts, putBlobs(parts, id, blobs, expiry));
    // Only a transaction with a callback puts the runs that wait, and it takes the serving thread as long as all puts of a queue.
    const created = parts.runs.hasSettled(project) ? put() : commit(parts, putLater);
    return (await Promise.all([created, ahead]))[0];
  } finally {
    // If this fails as well, the blobs expire.
    if (!mayBeFound) await removeBlobs(parts, id, expiry).catch(() => {});
  }
}
