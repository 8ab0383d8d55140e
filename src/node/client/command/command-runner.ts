import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
// On Windows, npx, mvn and the like are scripts, which Node does not start.
import spawn from 'cross-spawn';
import { END_SIGNALS, signalExitCode } from '../../../base/signals.js';

export interface CommandResult {
  /** As in a shell: 128 and the number of the signal that ended it, 127 for an unknown command, 126 for one that may not be run. */
  exitCode: number;
  seconds: number;
  /** Why the command could not be started; null: it was started. */
  startError: string | null;
}

/** process.stdin would open the file descriptor, and the command could no longer read from it. */
const STDIN = 0;
const GROUP_POLL_MILLISECONDS = 50;
/** Time that the processes that a command started may outlive it after a signal. */
const GROUP_GRACE_MILLISECONDS = 3000;
const PARENT_POLL_MILLISECONDS = 500;

/** Runs commands one at a time and forwards to them the signals that end a CI job. */
export class CommandRunner {
  /** The first signal that this process got. */
  signal: NodeJS.Signals | null = null;
  /**
   * True if each command gets a process group of its own. Signals then reach the processes that it starts, too: a shell, npx and go do not forward
   * them. At a terminal the command stays in our group, because only the foreground group may read from the terminal. Windows has no such groups.
   */
  readonly #hasGroups = !isatty(STDIN) && platform() !== 'win32';
  readonly #forward = (signal: NodeJS.Signals) => {
    this.signal ??= signal;
    // At a terminal, Ctrl-C already reaches the command.
    if (signal !== 'SIGINT' || this.#hasGroups) this.#send(signal);
    this.#interrupt();
  };
  #childPid: number | null = null;
  #parentWatch: NodeJS.Timeout | undefined;
  #interrupt = () => {};
  /** Resolves at the first signal. */
  readonly interrupted = new Promise<void>(resolve => (this.#interrupt = resolve));

  /**
   * Starts to handle signals.
   * @param isUnderNpm npm forwards signals only to its shell, so the end of that shell counts as SIGTERM
   */
  start(isUnderNpm: boolean): void {
    for (const signal of END_SIGNALS) process.on(signal, this.#forward);
    if (!isUnderNpm) return;
    const parent = process.ppid;
    const checkParent = () => process.ppid !== parent && this.signal === null && this.#forward('SIGTERM');
    this.#parentWatch = setInterval(checkParent, PARENT_POLL_MILLISECONDS).unref();
  }

  stop(): void {
    for (const signal of END_SIGNALS) process.off(signal, this.#forward);
    clearInterval(this.#parentWatch);
  }

  /** @param output where the stdout and stderr of the command go: to a file descriptor, or to those of this process */
  async run(
    [program, ...args]: readonly string[],
    environment: NodeJS.ProcessEnv,
    output: number | 'inherit' = 'inherit',
  ): Promise<CommandResult> {
    const start = performance.now();
    const outcome = await new Promise<Omit<CommandResult, 'seconds'>>(resolve => {
      const failToStart = (error: NodeJS.ErrnoException) => resolve(startFailure(error));
      try {
        const child = spawn(program!, args, { stdio: ['inherit', output, output], env: environment, detached: this.#hasGroups });
        this.#childPid = child.pid ?? null;
        child.once('error', error => child.pid === undefined && failToStart(error));
        child.once('exit', (code, signal) => resolve({ exitCode: code ?? signalExitCode(signal!), startError: null }));
      } catch (error) {
        // Node throws some errors instead of emitting them.
        failToStart(error as NodeJS.ErrnoException);
      }
    });
    const seconds = (performance.now() - start) / 1000;
    if (this.signal !== null) await this.#waitForGroup();
    this.#childPid = null;
    return { ...outcome, seconds };
  }

  /** Returns false if no process is left to get the signal. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (this.#childPid === null) return false;
    try {
      return process.kill(this.#hasGroups ? -this.#childPid : this.#childPid, signal);
    } catch {
      return false;
    }
  }

  /** Waits for the processes that the command started: they may still write a report, and must not outlive the job. */
  async #waitForGroup(): Promise<void> {
    const deadline = performance.now() + GROUP_GRACE_MILLISECONDS;
    while (this.#hasGroups && this.#send(0)) {
      if (performance.now() >= deadline) return void this.#send('SIGKILL');
      await sleep(GROUP_POLL_MILLISECONDS);
    }
  }
}

function startFailure({ code, message }: NodeJS.ErrnoException): Omit<CommandResult, 'seconds'> {
  return {
    exitCode: code === 'EACCES' || code === 'E2BIG' ? 126 : 127,
    startError: code === 'E2BIG' ? 'its arguments and environment are too long' : message,
  };
}
