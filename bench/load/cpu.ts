import { readFileSync } from 'node:fs';

/** Processor seconds of a process so far; zeros without a Linux /proc. */
export interface Cpu {
  /** All threads ran. */
  all: number;
  /** The main thread ran. */
  main: number;
  /** The main thread was ready to run, but no core was free. */
  starved: number;
}

export function readCpu(pid: number): Cpu {
  // The second field is a name in parentheses, which may contain spaces.
  const stat = fieldsOf(`/proc/${pid}/stat`, /^.*\) /);
  const [ran = 0, starved = 0] = fieldsOf(`/proc/${pid}/task/${pid}/schedstat`);
  return { all: ((stat[11] ?? 0) + (stat[12] ?? 0)) / 100, main: ran / 1e9, starved: starved / 1e9 };
}

/** The difference of two readings. */
export function cpuBetween(before: Cpu, after: Cpu): Cpu {
  return { all: after.all - before.all, main: after.main - before.main, starved: after.starved - before.starved };
}

function fieldsOf(file: string, skip = /^/): number[] {
  try {
    return readFileSync(file, 'utf8').replace(skip, '').split(' ').map(Number);
  } catch {
    return [];
  }
}
