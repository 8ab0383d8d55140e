import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { limits } from '../../limits.js';
import { packageFolder } from '../../version.js';

/** Copies the store of a folder into a new file. `stop` ends the copy at once and rejects with its reason. */
export async function copyStore(dataDir: string, target: string, stop: AbortSignal): Promise<void> {
  stop.throwIfAborted();
  const child = fork(fileURLToPath(new URL('dist/src/cli/data-folder/copy-process.js', packageFolder)), [dataDir, target], {
    execArgv: [],
  });
  const kill = () => child.kill('SIGKILL');
  stop.addEventListener('abort', kill);
  let failure: string | null = null;
  child.once('message', (message: string) => (failure = message));
  try {
    // The message of the process arrives before both events.
    const [[code, signal]] = (await Promise.all([once(child, 'exit'), once(child, 'disconnect')])) as [
      [number | null, NodeJS.Signals | null],
      unknown,
    ];
    stop.throwIfAborted();
    if (failure === null && code !== 0) failure = `the copying process ended with ${signal ?? `exit code ${code}`}; is the disk full?`;
    if (failure !== null) throw new Error(failure);
  } finally {
    stop.removeEventListener('abort', kill);
  }
}

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
