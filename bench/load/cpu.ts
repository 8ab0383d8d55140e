import { readFileSync } from 'node:fs';

/** Seconds of a process so far; zeros where there is no Linux /proc. */
export interface Cpu {
  /** All its threads ran. */
  all: number;
  /** Its main thread ran. */
  main: number;
  /** Its main thread had something to do, but no core was free. */
  starved: number;
}

export function cpuOf(pid: number): Cpu {
  // The second field, a name in parentheses, may hold anything.
  const stat = fieldsOf(`/proc/${pid}/stat`, /^.*\) /);
  const [ran = 0, starved = 0] = fieldsOf(`/proc/${pid}/task/${pid}/schedstat`);
  return { all: ((stat[11] ?? 0) + (stat[12] ?? 0)) / 100, main: ran / 1e9, starved: starved / 1e9 };
}

/** What it took between two readings. */
export function since(before: Cpu, after: Cpu): Cpu {
  return { all: after.all - before.all, main: after.main - before.main, starved: after.starved - before.starved };
}

function fieldsOf(file: string, skip = /^/): number[] {
  try {
    return readFileSync(file, 'utf8').replace(skip, '').split(' ').map(Number);
  } catch {
    return [];
  }
}
