import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../../limits.js';

/** Puts some in a turn of the event loop; resolves when all are written, rejects when all are written or refused. */
export async function putInChunks<T>(all: Iterable<T>, put: (one: T) => Promise<boolean>): Promise<void> {
  const turns: Promise<unknown>[] = [];
  let count = 0;
  let written: Promise<unknown> = Promise.resolve();
  for (const one of all) {
    try {
      written = put(one);
    } catch (error) {
      await Promise.allSettled([...turns, written]);
      throw error;
    }
    if (++count % limits.putsPerTurn > 0) continue;
    // What is put in one turn is written as one: the last tells of all. A failure waits for its turn below.
    written.catch(() => {});
    turns.push(written);
    await nextTurn();
  }
  await Promise.allSettled([...turns, written]);
  await Promise.all([...turns, written]);
}
