import { apiErrors } from '../../api-error.js';
import { limits } from '../../limits.js';
import { type Blobs, entriesOf, putBlobs, removeBlobs } from './blobs.js';
import { commit, written } from './commit.js';
import type { ExpiryKey, Parts } from './open.js';

/** What many nodes ask for at once, and is made once. */
export interface Creation<T> {
  /** The same for all who ask for the same: nobody else makes it meanwhile. */
  name: string;
  expiry: ExpiryKey;
  /** What is in force already. */
  find(): T | null;
  /** The bulk of it, put before anybody can find it. */
  pieces(): Blobs;
  /** Within a write transaction: puts that by which it is found. Null, and nothing put: it is not to be made any more. */
  put(): T | null;
}

/** Makes it unless it is there; resolves with what is in force, which is on disk. Throws a 503 when the disk does not take it. */
export async function createOnce<T>(store: Parts, installation: Creation<T>): Promise<T | null> {
  const { name, find } = installation;
  // Found and begun in one go.
  while (store.creations.has(name)) await creationSettled(store, name);
  const inForce = find();
  if (inForce !== null) return inForce;
  const made = make(store, installation).finally(() => store.creations.delete(name));
  store.creations.set(name, made);
  return made;
}

/** Resolves when it is not being made: what is found then is on disk; before, it may be found and not survive a kill. */
export async function creationSettled({ creations: installing }: Parts, name: string): Promise<void> {
  // Whoever waits for one that fails is told so, too: trying in turn would fail as often.
  await installing.get(name);
}

async function make<T>(store: Parts, { expiry, pieces, put }: Creation<T>): Promise<T | null> {
  const bulk = pieces();
  const { owner, count } = bulk;
  let mayBeFound = false;
  try {
    const ahead = written(putBlobs(store, bulk, expiry));
    // The puts of one turn, and the change behind them in that turn, are one transaction.
    if (count > limits.putsPerTurn) await ahead;
    const change = commit(store, () => {
      if (store.blobs.getKeysCount(entriesOf(owner)) < count) throw apiErrors.storeFailed(new Error('what was put before is not there'));
      const made = put();
      mayBeFound = made !== null;
      return made;
    });
    return (await Promise.all([change, ahead]))[0];
  } finally {
    // Should that fail as well, they expire.
    if (!mayBeFound) await removeBlobs(store, owner, expiry).catch(() => {});
  }
}
