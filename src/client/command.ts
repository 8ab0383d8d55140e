import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** How a command ended. */
export interface Ending {
  /** As a shell has it: 128 and the signal's number when one ended it, 127 when there is no such command, 126 when it may not be run. */
  code: number;
  seconds: number;
  /** Why it could not be started at all. */
  notStarted: string | null;
}

/** The command with the files of a batch: `{}` becomes an argument for each, `{,}` within an argument all of them behind commas; without either they are appended. */
export function withFiles(command: readonly string[], files: readonly string[]): string[] {
  if (!command.some(arg => arg === '{}' || arg.includes('{,}'))) return [...command, ...files];
  const joined = files.join(',');
  return command.flatMap(arg => (arg === '{}' ? files : [arg.replaceAll('{,}', () => joined)]));
}

/** Runs commands one after the other, and passes on the signals that end a CI job. */
export class Runner {
  /** The first signal that came. */
  signal: NodeJS.Signals | null = null;
  readonly #signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  readonly #forward = (signal: NodeJS.Signals) => {
    this.signal ??= signal;
    // A terminal has sent its Ctrl-C to the command, too.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) this.#kill?.(signal);
    this.#interrupt();
  };
  #kill: ((signal: NodeJS.Signals) => void) | null = null;
  #interrupt = () => {};
  /** Resolves at the first signal. */
  readonly interrupted = new Promise<void>(resolve => (this.#interrupt = resolve));

  start(): void {
    for (const signal of this.#signals) process.on(signal, this.#forward);
  }

  stop(): void {
    for (const signal of this.#signals) process.off(signal, this.#forward);
  }

  run([program, ...args]: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ending> {
    const start = performance.now();
    return new Promise(resolve => {
      const ended = (code: number, notStarted: string | null = null) => {
        this.#kill = null;
        resolve({ code, seconds: (performance.now() - start) / 1000, notStarted });
      };
      const refused = ({ code, message }: NodeJS.ErrnoException) =>
        ended(code === 'EACCES' || code === 'E2BIG' ? 126 : 127, code === 'E2BIG' ? 'its arguments are too long' : message);
      try {
        const child = spawn(program!, args, { stdio: 'inherit', env: environment });
        this.#kill = signal => void child.kill(signal);
        child.once('error', error => child.pid === undefined && refused(error));
        child.once('exit', (code, signal) => ended(code ?? codeOfSignal(signal!)));
      } catch (error) {
        // Some reasons are thrown instead.
        refused(error as NodeJS.ErrnoException);
      }
    });
  }
}

/** What a process exits with that a signal ended. */
export function codeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
