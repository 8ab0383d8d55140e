import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../../limits.js';

/**
 * Makes a bounded number of puts in each turn of the event loop. Resolves when all are on disk. Rejects when one failed and the others
 * have ended.
 */
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
    // The puts of one turn are one transaction, so the last one stands for all. Its failure is thrown below.
    written.catch(() => {});
    turns.push(written);
    await nextTurn();
  }
  await Promise.allSettled([...turns, written]);
  await Promise.all([...turns, written]);
}
