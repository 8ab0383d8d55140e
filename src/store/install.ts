import { faults } from '../fault.js';
import { limits } from '../limits.js';
import { type Pieces, putPieces, removePieces } from './blobs.js';
import { commit, written } from './commit.js';
import type { ExpiryKey, Store } from './open.js';

/** What many nodes ask for at once, and is made once. */
export interface Installation<T> {
  /** The same for all who ask for the same. */
  name: string;
  /** The bulk of it, put before anybody can find it. */
  pieces: Pieces;
  expiry: ExpiryKey;
  /** What is in force already. */
  find(): T | null;
  /** Within a write transaction: puts that by which it is found. Null, and nothing put: it is not to be made any more. */
  put(): T | null;
}

/** Makes it unless it is there; resolves with what is in force, which is on disk. Throws a 503 when the disk does not take it. */
export async function install<T>(store: Store, installation: Installation<T>): Promise<T | null> {
  const { name, find } = installation;
  const { installing } = store;
  while (installing.has(name)) await installing.get(name);
  const inForce = find();
  if (inForce !== null) return inForce;
  const made = make(store, installation);
  const ended = made.then(
    () => void installing.delete(name),
    () => void installing.delete(name),
  );
  installing.set(name, ended);
  return made;
}

async function make<T>(store: Store, { pieces, expiry, put }: Installation<T>): Promise<T | null> {
  const { owner, count, piece } = pieces;
  const ahead = written(putPieces(store, pieces, expiry));
  // The puts of one turn share the flush of what follows.
  if (count > limits.putsPerTurn) await ahead;
  const [made] = await Promise.all([
    commit(store, () => {
      if (!store.blobs.doesExist([owner, piece(count - 1).part])) throw faults.storeFailed(new Error('what was put before is not there'));
      return put();
    }),
    ahead,
  ]);
  if (made === null) await removePieces(store, owner, expiry);
  return made;
}
