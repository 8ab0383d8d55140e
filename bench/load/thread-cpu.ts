import { readdirSync } from 'node:fs';
import { type Cpu, cpuBetween, readCpu } from './cpu.js';

const MILLISECONDS_BETWEEN_READINGS = 50;

interface Reading {
  at: number;
  cpu: Cpu;
}

/** Reads the processor time of a process until it exits. Its first thread beside the main thread counts as `main`: it does the work. */
export class ThreadCpu {
  readonly #timer = setInterval(() => this.#read(), MILLISECONDS_BETWEEN_READINGS);
  #first: Reading | null = null;
  #last: Reading | null = null;

  constructor(readonly pid: number) {}

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The processor time of a duration, as the share of the time between the first and the last reading; zeros without a Linux /proc. */
  during(seconds: number): Cpu {
    if (!this.#first || !this.#last || this.#first === this.#last) return { all: 0, kernel: 0, main: 0, starved: 0 };
    const { all, kernel, main, starved } = cpuBetween(this.#first.cpu, this.#last.cpu);
    const factor = (1000 * seconds) / (this.#last.at - this.#first.at);
    return { all: factor * all, kernel: factor * kernel, main: factor * main, starved: factor * starved };
  }

  #read(): void {
    const thread = threadsOf(this.pid).find(id => id !== this.pid);
    if (thread === undefined) return;
    const cpu = readCpu(this.pid, thread);
    // The thread may have ended since.
    if (cpu.main === 0) return;
    this.#last = { at: performance.now(), cpu };
    this.#first ??= this.#last;
  }
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}
