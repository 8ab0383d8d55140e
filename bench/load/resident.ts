import { readFileSync } from 'node:fs';

/** Bytes of a process that are in memory. */
export interface Resident {
  all: number;
  /** Its own: heaps, buffers, stacks. */
  anonymous: number;
  /** Of files, the store's among them: the system takes these back when it needs them. */
  ofFiles: number;
}

/** Reads Linux /proc; throws a sentence elsewhere. */
export function residentOf(pid: number): Resident {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch (error) {
    throw new Error(`cannot read the memory of process ${pid}: this trial needs Linux and a process that runs`, { cause: error });
  }
  const bytes = (name: string) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN);
  return { all: bytes('VmRSS'), anonymous: bytes('RssAnon'), ofFiles: bytes('RssFile') };
}

/** For tables, in MiB. */
export function mebibytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0);
}

export function cellsOf({ all, anonymous, ofFiles }: Resident): string[] {
  return [all, anonymous, ofFiles].map(mebibytes);
}
