import { readdirSync, readFileSync } from 'node:fs';

/** A process that a command started. */
export interface CommandProcess {
  pid: number;
  /** SIGQUIT does not just end it: a JVM, a program in Go, and Node with --report-signal=SIGQUIT print their stacks at it. */
  catchesQuit: boolean;
}

interface Status extends CommandProcess {
  parent: number;
  session: number;
}

/** The bit of SIGQUIT in the last hexadecimal digit of a mask of signals. */
const QUIT_BIT = 4;

/**
 * The processes that run of a command, whose own is `pid`: its descendants, and those of its session whose parents have ended. Only Linux tells
 * them: elsewhere there are none.
 */
export function processesOf(pid: number): CommandProcess[] {
  const all = new Map(listed().map(status => [status.pid, status]));
  const isOf = (status: Status | undefined): boolean =>
    status !== undefined && (status.pid === pid || status.session === pid || isOf(all.get(status.parent)));
  return [...all.values()].filter(isOf);
}

function listed(): Status[] {
  try {
    return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (readStatus(Number(name)) ?? []) : []));
  } catch {
    return [];
  }
}

/** Null: it has ended. */
function readStatus(pid: number): Status | null {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const fieldOf = (name: string) => new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(text)?.[1] ?? '0';
    if (fieldOf('State') === 'Z') return null;
    const catchesQuit = (Number.parseInt(fieldOf('SigCgt').at(-1)!, 16) & QUIT_BIT) !== 0;
    return { pid, catchesQuit, parent: Number(fieldOf('PPid')), session: Number(fieldOf('NSsid')) };
  } catch {
    return null;
  }
}
