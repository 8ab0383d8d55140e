import { apiErrors } from '../../../api-error.js';
import { limits } from '../../../limits.js';
import type { Parts } from '../parts.js';
import type { ExpiryKey } from '../tables.js';
import { type Blobs, entriesOf, putBlobs, removeBlobs } from './blobs.js';
import { commit, written } from './commit.js';

/** A record that many nodes request concurrently, and that is created once. */
export interface Creation<T> {
  /** Only one creation of a name runs at a time. */
  name: string;
  expiry: ExpiryKey;
  /** Returns the existing record; null: there is none. */
  find(): T | null;
  /** The bulk of the data, put before the record can be found. */
  blobs(): Blobs;
  /** Puts the records by which it is found, within a write transaction. Null: it can no longer be created, and nothing was put. */
  put(): T | null;
}

type CreationParts = Pick<Parts, 'creations' | 'root' | 'blobs' | 'expiry' | 'diskSpace' | 'failure' | 'runs' | 'committed'>;

/** Creates a record unless it exists. Resolves with the record, which is then on disk. Throws a 503 when the write fails. */
export async function createOnce<T>(parts: CreationParts, creation: Creation<T>): Promise<T | null> {
  const { creations } = parts;
  const { name, find } = creation;
  // The last look and the creation are in one turn of the event loop.
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

async function create<T>(parts: CreationParts, { expiry, blobs, put }: Creation<T>): Promise<T | null> {
  const bulk = blobs();
  const { owner, count } = bulk;
  let mayBeFound = false;
  try {
    const ahead = written(putBlobs(parts, bulk, expiry));
    // The puts of one turn and the change after them in that turn are one transaction.
    if (count > limits.putsPerTurn) await ahead;
    const change = commit(parts, () => {
      if (parts.blobs.getKeysCount(entriesOf(owner)) < count) throw apiErrors.storeFailed(new Error('blobs that were put are missing'));
      const created = put();
      mayBeFound = created !== null;
      return created;
    });
    return (await Promise.all([change, ahead]))[0];
  } finally {
    // If this fails as well, they expire.
    if (!mayBeFound) await removeBlobs(parts, owner, expiry).catch(() => {});
  }
}
