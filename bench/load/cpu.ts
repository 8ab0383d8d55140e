import { readFileSync } from 'node:fs';

/** Processor seconds of a process so far; zeros without a Linux /proc. */
export interface Cpu {
  /** All threads ran. */
  all: number;
  /** All threads ran in the kernel. */
  kernel: number;
  /** The main thread ran. */
  main: number;
  /** The main thread was ready to run, but no core was free. */
  starved: number;
}

/** USER_HZ of Linux on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** @param thread id of the thread that counts as the main one */
export function readCpu(pid: number, thread = pid): Cpu {
  // The second field is a name in parentheses, which may contain spaces.
  const stat = fieldsOf(`/proc/${pid}/stat`, /^.*\) /);
  const [ran = 0, starved = 0] = fieldsOf(`/proc/${pid}/task/${thread}/schedstat`);
  const [user = 0, kernel = 0] = stat.slice(11, 13).map(ticks => ticks / TICKS_PER_SECOND);
  return { all: user + kernel, kernel, main: ran / 1e9, starved: starved / 1e9 };
}

/** The difference of two readings. */
export function cpuBetween(before: Cpu, after: Cpu): Cpu {
  return {
    all: after.all - before.all,
    kernel: after.kernel - before.kernel,
    main: after.main - before.main,
    starved: after.starved - before.starved,
  };
}

/** The sum of readings, or of differences. */
export function cpuSum(each: readonly Cpu[]): Cpu {
  const sum: Cpu = { all: 0, kernel: 0, main: 0, starved: 0 };
  for (const cpu of each) for (const name of ['all', 'kernel', 'main', 'starved'] as const) sum[name] += cpu[name];
  return sum;
}

function fieldsOf(file: string, skip = /^/): number[] {
  try {
    return readFileSync(file, 'utf8').replace(skip, '').split(' ').map(Number);
  } catch {
    return [];
  }
}
