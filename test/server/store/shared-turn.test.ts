import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SHARED_TURN_MILLISECONDS, sharedTurn } from '../../../src/server/store/shared-turn.js';

it('work that waits for its turn at the same time goes on in turns that others follow', async () => {
  let turns = 0;
  let hasEnded = false;
  const counting = (async () => {
    for (; !hasEnded; turns++) await nextTurn();
  })();
  const seen: number[] = [];
  const work = async () => {
    await sharedTurn();
    seen.push(turns);
    for (const began = performance.now(); performance.now() - began < SHARED_TURN_MILLISECONDS; );
  };
  await Promise.all([work(), work(), work(), work()]);
  hasEnded = true;
  await counting;
  expect(new Set(seen).size).toBe(4);
});
