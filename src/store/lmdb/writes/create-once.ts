import { apiErrors } from '../../../api-error.js';
import { limits } from '../../../limits.js';
import type { Parts } from '../parts.js';
import type { ExpiryKey } from '../tables.js';
import { type Blobs, entriesOf, putBlobs, removeBlobs } from './blobs.js';
import { commit, written } from './commit.js';

/** Something that many nodes ask for at once, and that is created once. */
export interface Creation<T> {
  /** Names what is created: there is one creation of that name at a time. */
  name: string;
  expiry: ExpiryKey;
  /** What exists already; null: nothing. */
  find(): T | null;
  /** Most of it, put before it can be found. */
  blobs(): Blobs;
  /** Puts the records by which it is found, within a write transaction. Null, and nothing put: it can no longer be created. */
  put(): T | null;
}

type CreationParts = Pick<Parts, 'creations' | 'root' | 'blobs' | 'expiry' | 'diskSpace' | 'failure' | 'committed'>;

/** Creates something unless it exists; resolves with what exists, which is then on disk. Throws a 503 when the disk does not take it. */
export async function createOnce<T>(parts: CreationParts, creation: Creation<T>): Promise<T | null> {
  const { creations } = parts;
  const { name, find } = creation;
  // No turn passes between the last look and the creation.
  while (creations.has(name)) await creationSettled(parts, name);
  const existing = find();
  if (existing !== null) return existing;
  const created = create(parts, creation).finally(() => creations.delete(name));
  creations.set(name, created);
  return created;
}

/** Resolves when nothing of a name is being created: what is found then is on disk. Earlier, a kill might lose it. */
export async function creationSettled({ creations }: Pick<Parts, 'creations'>, name: string): Promise<void> {
  // All who wait for a creation that fails get its failure: trying again for each would fail as often.
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
