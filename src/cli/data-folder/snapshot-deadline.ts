import { limits } from '../../limits.js';

/** Stops a command that reads one snapshot of the store for too long: the file of a busy server grows meanwhile. */
export function snapshotDeadline(): AbortSignal {
  const seconds = limits.snapshotSeconds;
  const deadline = new AbortController();
  setTimeout(
    () =>
      deadline.abort(
        new Error(`it took longer than ${seconds} s and was stopped, because the store cannot reuse freed pages during a snapshot`),
      ),
    1000 * seconds,
  ).unref();
  return deadline.signal;
}
