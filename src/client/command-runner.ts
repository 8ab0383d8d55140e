import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';

/** How a command ended. */
export interface CommandResult {
  /** As a shell has it: 128 and the signal's number when one ended it, 127 when there is no such command, 126 when it may not be run. */
  exitCode: number;
  seconds: number;
  /** Why it could not be started at all. */
  startError: string | null;
}

/** process.stdin would be opened, and the command could no longer read it. */
const STDIN = 0;
const GROUP_POLL_MILLISECONDS = 50;
/** What a command started gets so long to end when that was told to end and did. */
const GROUP_GRACE_MILLISECONDS = 3000;
const PARENT_POLL_MILLISECONDS = 500;

/** Runs commands one after the other, and passes on the signals that end a CI job. */
export class CommandRunner {
  /** The first signal that came. */
  signal: NodeJS.Signals | null = null;
  readonly #signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  /**
   * Whether a command has a process group of its own, so that a signal reaches what it starts, too: a shell, npx and go pass none on.
   * At a terminal it stays in ours, which is the one that may read keys.
   */
  readonly #hasGroups = !isatty(STDIN);
  readonly #forward = (signal: NodeJS.Signals) => {
    this.signal ??= signal;
    // A terminal has sent its Ctrl-C to the command, too.
    if (signal !== 'SIGINT' || this.#hasGroups) this.#send(signal);
    this.#interrupt();
  };
  #childPid: number | null = null;
  #parentWatch: NodeJS.Timeout | undefined;
  #interrupt = () => {};
  /** Resolves at the first signal. */
  readonly interrupted = new Promise<void>(resolve => (this.#interrupt = resolve));

  /** @param isOfNpm npm passes signals on to a shell only: that this is gone is all that is told here. */
  start(isOfNpm: boolean): void {
    for (const signal of this.#signals) process.on(signal, this.#forward);
    if (!isOfNpm) return;
    const parent = process.ppid;
    const look = () => process.ppid !== parent && this.signal === null && this.#forward('SIGTERM');
    this.#parentWatch = setInterval(look, PARENT_POLL_MILLISECONDS).unref();
  }

  stop(): void {
    for (const signal of this.#signals) process.off(signal, this.#forward);
    clearInterval(this.#parentWatch);
  }

  async run([program, ...args]: readonly string[], environment: NodeJS.ProcessEnv): Promise<CommandResult> {
    const start = performance.now();
    const ending = (code: number, notStarted: string | null = null): CommandResult => ({
      exitCode: code,
      seconds: (performance.now() - start) / 1000,
      startError: notStarted,
    });
    const ended = await new Promise<CommandResult>(resolve => {
      const refused = ({ code, message }: NodeJS.ErrnoException) =>
        resolve(
          ending(
            code === 'EACCES' || code === 'E2BIG' ? 126 : 127,
            code === 'E2BIG' ? 'its arguments and environment are too long' : message,
          ),
        );
      try {
        const child = spawn(program!, args, { stdio: 'inherit', env: environment, detached: this.#hasGroups });
        this.#childPid = child.pid ?? null;
        child.once('error', error => child.pid === undefined && refused(error));
        child.once('exit', (code, signal) => resolve(ending(code ?? signalExitCode(signal!))));
      } catch (error) {
        // Some reasons are thrown instead.
        refused(error as NodeJS.ErrnoException);
      }
    });
    if (this.signal !== null) await this.#waitForGroup();
    this.#childPid = null;
    return ended;
  }

  /** Whether there was anybody to get it. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (this.#childPid === null) return false;
    try {
      return process.kill(this.#hasGroups ? -this.#childPid : this.#childPid, signal);
    } catch {
      return false;
    }
  }

  /** What the command started may still write its report, and must not stay. */
  async #waitForGroup(): Promise<void> {
    const until = performance.now() + GROUP_GRACE_MILLISECONDS;
    while (this.#hasGroups && this.#send(0)) {
      if (performance.now() >= until) return void this.#send('SIGKILL');
      await sleep(GROUP_POLL_MILLISECONDS);
    }
  }
}

/** What a process exits with that a signal ended. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
