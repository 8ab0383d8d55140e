import { limits } from '../../limits.js';

/** Stops a command that reads one state of the store for too long: the file of a busy server grows meanwhile. */
export function snapshotDeadline(): AbortSignal {
  const seconds = limits.snapshotSeconds;
  const ending = new AbortController();
  setTimeout(
    () => ending.abort(new Error(`it took longer than ${seconds} s and was stopped, because the store cannot reuse freed pages meanwhile`)),
    1000 * seconds,
  ).unref();
  return ending.signal;
}
