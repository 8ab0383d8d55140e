import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time that divided work of all kinds goes on in one turn of the event loop. */
export const SHARED_TURN_MILLISECONDS = 2;

let last: Promise<unknown> = Promise.resolve();
/** By performance.now(): when the last turn began. */
let began = 0;

/**
 * Resolves when the caller may go on for about a millisecond. All who call this go on one after another, in the same short turns of the event
 * loop: a request waits for one such turn, however many do divided work at a time.
 */
export function sharedTurn(): Promise<unknown> {
  return (last = last.then(goOn));
}

async function goOn(): Promise<void> {
  if (performance.now() - began < SHARED_TURN_MILLISECONDS) return;
  await nextTurn();
  began = performance.now();
}
