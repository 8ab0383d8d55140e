import { readFileSync } from 'node:fs';

/** Resident memory of a process, in bytes. */
export interface ResidentMemory {
  all: number;
  /** Heaps, buffers, stacks. */
  anonymous: number;
  /** Mapped files, among them the store. The system reclaims these pages when it needs memory. */
  ofFiles: number;
}

/** Reads Linux /proc. Throws on other systems. */
export function readResidentMemory(pid: number): ResidentMemory {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch (error) {
    throw new Error(`cannot read the memory of process ${pid} from /proc: this trial needs Linux and a running process`, { cause: error });
  }
  const bytes = (name: string) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN);
  return { all: bytes('VmRSS'), anonymous: bytes('RssAnon'), ofFiles: bytes('RssFile') };
}

/** A cell of a table, in MiB. */
export function mebibytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0);
}

export function memoryCells({ all, anonymous, ofFiles }: ResidentMemory): string[] {
  return [all, anonymous, ofFiles].map(mebibytes);
}
