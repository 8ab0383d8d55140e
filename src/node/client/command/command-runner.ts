import { type ChildProcess, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
// On Windows, npx, mvn and the like are scripts, which Node does not start.
import spawn from 'cross-spawn';
import { END_SIGNALS, signalExitCode } from '../../../base/signals.js';
import { processesWith } from './running-processes.js';

export interface CommandResult {
  /** As in a shell: 128 and the number of the signal that ended it, 127 for an unknown command, 126 for one that may not be run. */
  exitCode: number;
  seconds: number;
  /** Why the command could not be started; null: it was started. */
  startError: string | null;
  /** It ran for longer than its limit, and was ended. */
  isHung: boolean;
}

/** How long a command may run. */
export interface CommandLimit {
  seconds: number;
  /** Called when it has run for so long, before it is ended. */
  reached: () => Promise<void>;
}

type Outcome = Omit<CommandResult, 'seconds'>;

/** process.stdin would open the file descriptor, and the command could no longer read from it. */
const STDIN = 0;
const GROUP_POLL_MILLISECONDS = 50;
/** Time that the processes that a command started may outlive it after a signal. */
const GROUP_GRACE_MILLISECONDS = 3000;
/** Time for a command that hangs to print stacks, then to end, and then for the system to end it. */
const HUNG_GRACE_MILLISECONDS = 3000;
const PARENT_POLL_MILLISECONDS = 500;
/** The variable by which the processes of a command are found. */
const MARK = 'BALLAST_COMMAND_ID';
/** Timers of Node fire at once if they are longer. */
const MAX_TIMER_MILLISECONDS = 2 ** 31 - 1;

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
  /** The command that runs; null: none does, or it could not be started. */
  #child: ChildProcess | null = null;
  #parentWatch: NodeJS.Timeout | undefined;
  #interrupt = () => {};
  /** Resolves at the first signal. */
  readonly interrupted = new Promise<void>(resolve => (this.#interrupt = resolve));

  /** @param graceMilliseconds see HUNG_GRACE_MILLISECONDS */
  constructor(readonly graceMilliseconds = HUNG_GRACE_MILLISECONDS) {}

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

  /**
   * @param output where the stdout and stderr of the command go: to a file descriptor, or to those of this process
   * @param limit null: it may run for ever
   */
  async run(
    [program, ...args]: readonly string[],
    environment: NodeJS.ProcessEnv,
    output: number | 'inherit' = 'inherit',
    limit: CommandLimit | null = null,
  ): Promise<CommandResult> {
    const start = performance.now();
    const mark = randomUUID();
    const env = { ...environment, [MARK]: mark };
    const ended = new Promise<Outcome>(resolve => {
      const failToStart = (error: NodeJS.ErrnoException) => resolve(startFailure(error));
      try {
        const child = spawn(program!, args, { stdio: ['inherit', output, output], env, detached: this.#hasGroups });
        this.#child = child.pid === undefined ? null : child;
        child.once('error', error => child.pid === undefined && failToStart(error));
        child.once('exit', (code, signal) => resolve({ exitCode: code ?? signalExitCode(signal!), startError: null, isHung: false }));
      } catch (error) {
        // Node throws some errors instead of emitting them.
        failToStart(error as NodeJS.ErrnoException);
      }
    });
    const outcome = limit === null ? await ended : await this.#within(limit, ended, mark);
    const seconds = (performance.now() - start) / 1000;
    if (this.signal !== null) await this.#waitForGroup();
    this.#child = null;
    return { ...outcome, seconds };
  }

  /** Waits for the end of the command, and ends it at its limit. */
  async #within({ seconds, reached }: CommandLimit, ended: Promise<Outcome>, mark: string): Promise<Outcome> {
    const inTime = await within(1000 * seconds, ended);
    if (inTime) return inTime;
    // After a signal the CI system ends the job.
    if (this.signal !== null) return ended;
    await reached();
    const meanwhile = await Promise.race([ended, null]);
    if (meanwhile) return meanwhile;
    await this.#end(mark);
    // The system cannot end a process that waits for a disk, for example.
    this.#child?.unref();
    const outcome = await within(this.graceMilliseconds, ended);
    return { exitCode: outcome?.exitCode ?? signalExitCode('SIGKILL'), startError: null, isHung: true };
  }

  /**
   * Ends the command and what it started, also processes that left its group: those that print stacks at SIGQUIT get it first, then all SIGTERM,
   * then SIGKILL. It does not wait for a process that it cannot find, or that stays as a zombie.
   */
  async #end(mark: string): Promise<void> {
    const pid = this.#child!.pid!;
    if (platform() === 'win32') return void spawnSync('taskkill', ['/pid', String(pid), '/t', '/f']);
    const group = this.#hasGroups ? -pid : pid;
    const processes = processesWith(`${MARK}=${mark}`);
    const all = processes.length > 0 ? processes.map(one => one.pid) : [group];
    const printing = processes.filter(({ catchesQuit }) => catchesQuit).map(one => one.pid);
    if (printing.length > 0) await this.#tell(printing, 'SIGQUIT');
    await this.#tell(all, 'SIGTERM');
    for (const id of [group, ...all]) send(id, 'SIGKILL');
  }

  /** Sends a signal, and waits a while for the processes to end. */
  async #tell(pids: readonly number[], signal: NodeJS.Signals): Promise<void> {
    for (const pid of pids) send(pid, signal);
    const deadline = performance.now() + this.graceMilliseconds;
    while (this.signal === null && performance.now() < deadline && pids.some(pid => send(pid, 0))) await sleep(GROUP_POLL_MILLISECONDS);
  }

  /** Returns false if no process is left to get the signal. */
  #send(signal: NodeJS.Signals | 0): boolean {
    const pid = this.#child?.pid;
    return pid !== undefined && send(this.#hasGroups ? -pid : pid, signal);
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

/** Returns null if it takes longer. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | null> {
  const timer = new AbortController();
  const late = sleep(Math.min(MAX_TIMER_MILLISECONDS, milliseconds), null, { signal: timer.signal }).catch(() => null);
  const inTime = await Promise.race([work, late]);
  timer.abort();
  return inTime;
}

/** Returns false if there is no such process, or group (negative). */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function startFailure({ code, message }: NodeJS.ErrnoException): Outcome {
  return {
    isHung: false,
    exitCode: code === 'EACCES' || code === 'E2BIG' ? 126 : 127,
    startError: code === 'E2BIG' ? 'its arguments and environment are too long' : message,
  };
}
