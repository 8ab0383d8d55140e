import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { packageFolder } from './version.js';

/**
 * Runs a module of this package in a process of its own until it ends. Rejects with the sentence that it sends, or with how it ended. `stop`
 * kills it at once, and rejects with its reason.
 *
 * @param path from the folder of the package on
 * @param title what messages call the process
 */
export async function runChild(path: string, title: string, args: readonly string[], stop: AbortSignal): Promise<void> {
  stop.throwIfAborted();
  const child = fork(fileURLToPath(new URL(path, packageFolder)), args, { execArgv: [] });
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
    if (failure === null && code !== 0) failure = `${title} ended with ${signal ?? `exit code ${code}`}; is the disk full?`;
    if (failure !== null) throw new Error(failure);
  } finally {
    stop.removeEventListener('abort', kill);
  }
}

/** Does the work of such a process, which ends with the process that started it, and sends the message of an error. */
export async function workAsChild(work: () => Promise<void>): Promise<void> {
  const end = () => process.kill(process.pid, 'SIGKILL');
  // A signal from the terminal also reaches the process that started this one, and kills it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('disconnect', end);
  if (!process.connected) end();
  try {
    await work();
  } catch (error) {
    process.send!((error as Error).message);
  } finally {
    process.off('disconnect', end);
    process.disconnect();
  }
}
