import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { END_SIGNALS } from './signals.js';
import { packageFolder } from './version.js';

/** The message of a process that ends: the value that it made, or the sentence of an error. */
export type ChildMessage = { made: unknown } | { failure: string };

/**
 * Runs a module of this package in a process of its own until it ends. Resolves with what it made. Rejects with the sentence that it sends, or
 * with how it ended. `stop` kills it at once, and rejects with its reason.
 *
 * @param path from the folder of the package on
 * @param title what messages call the process
 */
export async function runChild(path: string, title: string, args: readonly string[], stop: AbortSignal): Promise<unknown> {
  stop.throwIfAborted();
  const child = fork(fileURLToPath(new URL(path, packageFolder)), args, { execArgv: [] });
  const kill = () => child.kill('SIGKILL');
  stop.addEventListener('abort', kill);
  const messages: ChildMessage[] = [];
  child.on('message', (message: ChildMessage) => messages.push(message));
  try {
    // The message of the process arrives before both events.
    const [[code, signal]] = (await Promise.all([once(child, 'exit'), once(child, 'disconnect')])) as [
      [number | null, NodeJS.Signals | null],
      unknown,
    ];
    stop.throwIfAborted();
    const [message] = messages;
    if (message && 'made' in message) return message.made;
    throw new Error(message?.failure ?? `${title} ended with ${signal ?? `exit code ${code}`}; is the disk full?`);
  } finally {
    stop.removeEventListener('abort', kill);
  }
}

/** Does the work of such a process, which ends with the process that started it, and sends what it made, or the message of an error. */
export async function workAsChild(work: () => Promise<unknown>): Promise<void> {
  const end = () => process.kill(process.pid, 'SIGKILL');
  // A signal from the terminal also reaches the process that started this one, and kills it.
  for (const signal of END_SIGNALS) process.on(signal, () => {});
  process.on('disconnect', end);
  if (!process.connected) end();
  const send = (message: ChildMessage) => process.send!(message);
  try {
    send({ made: (await work()) ?? null });
  } catch (error) {
    send({ failure: (error as Error).message });
  } finally {
    process.off('disconnect', end);
    process.disconnect();
  }
}
