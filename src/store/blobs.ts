import { limits } from '../limits.js';
import { commit } from './commit.js';
import type { ExpiryKey, Store } from './open.js';

/** What a plan puts into `blobs`: piece i under [owner, i]. */
export interface Pieces {
  owner: string;
  count: number;
  piece(i: number): Buffer;
}

/** All keys [owner, ...], be the parts numbers or names. */
export function entriesOf(owner: string): object {
  return { start: [owner, -Infinity], end: [owner, '\u{10FFFF}'] };
}

/** Within a write transaction: puts the pieces from one on. */
export function putPieces(store: Store, { owner, count, piece }: Pieces, from: number): void {
  for (let i = from; i < count; i++) void store.blobs.put([owner, i], piece(i));
}

/**
 * Puts all but the last of many pieces, some in a turn, so that nobody waits for all of them at once. Returns where to go
 * on. Nobody finds them yet: should that never happen, they expire by the key given.
 */
export async function putAhead(store: Store, { owner, count, piece }: Pieces, expiry: ExpiryKey): Promise<number> {
  const last = count - (count % limits.putsPerTurn);
  for (let from = 0; from < last; from += limits.putsPerTurn) {
    await commit(store, () => {
      if (from === 0) void store.expiry.put(expiry, true);
      putPieces(store, { owner, count: from + limits.putsPerTurn, piece }, from);
    });
  }
  return last;
}

/** Takes back what was put ahead, when another was faster. */
export async function takeBack(store: Store, owner: string, count: number, expiry: ExpiryKey): Promise<void> {
  for (let from = 0; from < count; from += limits.putsPerTurn) {
    await commit(store, () => {
      for (let i = from; i < Math.min(count, from + limits.putsPerTurn); i++) void store.blobs.remove([owner, i]);
      if (from + limits.putsPerTurn >= count) void store.expiry.remove(expiry);
    });
  }
}
