import { type Cpu, cpuBetween, readCpu } from './cpu.js';
import type { LoadQuestion } from './loader.js';
import { LoopDelay, type LoopDelays } from './loop-delay.js';
import type { Server } from './server.js';
import { assertNoFailures, type LoadOutcome } from './tally.js';
import { Worker } from './worker.js';

export type Loader = Worker<LoadQuestion, LoadOutcome[] | null>;

/** Measurements of a server under load. */
export interface Measurement {
  seconds: number;
  /** Delay of the server's main thread. */
  server: LoopDelays;
  /** Delay of an idle process: the part that the operating system causes. */
  idleProcess: LoopDelays;
  cpu: Cpu;
  outcomes: LoadOutcome[];
}

/** Measures a server and an idle process while loads run. */
export class ServerMonitor {
  readonly #idleProcess = new Worker('bench/load/idle-process.js');

  constructor(readonly server: Server) {}

  /** Runs the loads until `wait` resolves. Throws if a request failed. */
  async measure(loaders: readonly Loader[], wait: () => Promise<unknown>): Promise<Measurement> {
    const loops = [this.server.child, this.#idleProcess.child].map(child => new LoopDelay(child));
    for (const loop of loops) await loop.reset();
    const before = readCpu(this.server.pid);
    const from = performance.now();
    for (const loader of loaders) await loader.ask({ verb: 'begin' });
    await wait();
    const outcomes = (await Promise.all(loaders.map(loader => loader.ask<LoadOutcome[]>({ verb: 'end' })))).flat();
    const [server, idleProcess] = (await Promise.all(loops.map(loop => loop.read()))) as [LoopDelays, LoopDelays];
    const seconds = (performance.now() - from) / 1000;
    assertNoFailures(outcomes);
    return { seconds, server, idleProcess, cpu: cpuBetween(before, readCpu(this.server.pid)), outcomes };
  }

  /** Stops the idle process. The server keeps running. */
  stop(): Promise<void> {
    return this.#idleProcess.stop();
  }
}

export const monitorHead = ['server delay ms', 'idle process delay ms', 'main thread ran', 'starved'];

export const monitorLegend =
  'delay: maximum, and in parentheses the 99th percentile, of the delay of a timer that is due every millisecond in the server’s main thread; ' +
  'idle process: the same for a process that only the operating system delays. ran, starved: ' +
  'shares of the time in which the main thread ran, and in which it was ready to run but no core was free.';

export function monitorCells({ server, idleProcess, cpu, seconds }: Measurement): string[] {
  const delays = ({ maxMilliseconds, p99Milliseconds }: LoopDelays) => `${maxMilliseconds.toFixed(1)} (${p99Milliseconds.toFixed(1)})`;
  const percent = (part: number) => `${((100 * part) / seconds).toFixed(1)} %`;
  return [delays(server), delays(idleProcess), percent(cpu.main), percent(cpu.starved)];
}

export const pullHead = ['pulls', 'p50 ms', 'p99 ms', 'max ms'];

export function pullCells(pulls: LoadOutcome | undefined): string[] {
  if (!pulls) return ['0', '-', '-', '-'];
  const { answers, p50Milliseconds, p99Milliseconds, maxMilliseconds } = pulls;
  return [String(answers), ...[p50Milliseconds, p99Milliseconds, maxMilliseconds].map(value => value.toFixed(2))];
}
