import { limits } from '../limits.js';

/** Ends what reads one state of a store for too long: the file of a busy server grows meanwhile. */
export function endOfSnapshot(): AbortSignal {
  const seconds = limits.snapshotSeconds;
  const ending = new AbortController();
  setTimeout(() => ending.abort(new Error(`it took longer than ${seconds} s; meanwhile the store could not reuse what was freed`)), 1000 * seconds).unref();
  return ending.signal;
}
