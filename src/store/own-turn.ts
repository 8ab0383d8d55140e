import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../limits.js';

let last: Promise<unknown> = Promise.resolve();
/** By performance.now(): when the turn began that was taken last. */
let began = 0;

/**
 * Resolves when the caller may go on for a millisecond. All who call this share short turns of the event loop, one after another, so that work
 * that is divided delays requests by one such turn, however much of it there is at a time.
 */
export function ownTurn(): Promise<unknown> {
  return (last = last.then(goOn));
}

async function goOn(): Promise<void> {
  if (performance.now() - began < limits.sharedTurnMilliseconds) return;
  await nextTurn();
  began = performance.now();
}
