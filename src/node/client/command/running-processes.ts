import { readdirSync, readFileSync } from 'node:fs';

/** A process that a command started. */
export interface RunningProcess {
  pid: number;
  /** SIGQUIT does not just end it: a JVM, a program in Go, and Node with --report-signal=SIGQUIT print their stacks at it. */
  catchesQuit: boolean;
}

/** The bit of SIGQUIT in the last hexadecimal digit of a mask of signals. */
const QUIT_BIT = 4;

/**
 * The processes that run with this variable, `NAME=value`, in their environment. It finds also those that left the group of their command, and
 * whose parents have ended. Only Linux tells environments: elsewhere there are none.
 */
export function processesWith(variable: string): RunningProcess[] {
  try {
    return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (readProcess(Number(name), variable) ?? []) : []));
  } catch {
    return [];
  }
}

/** Null: it has ended, is not ours, or lacks the variable. */
function readProcess(pid: number, variable: string): RunningProcess | null {
  try {
    if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable)) return null;
    const caught = /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
    return { pid, catchesQuit: (Number.parseInt(caught.at(-1)!, 16) & QUIT_BIT) !== 0 };
  } catch {
    return null;
  }
}
