import type { Cpu } from './cpu.js';
import type { Outcome } from './load.js';

/** The result of a load on one server: answers and processor time. */
export interface SideResult extends Outcome {
  server: Cpu;
}

/** A generator that takes more of a core may be the limit of what it measures. */
const MOST_OF_CORE = 0.9;

/** Answers per second. */
export function answersPerSecond({ answers, seconds }: Outcome): number {
  return answers / seconds;
}

/** Answers per second of a side over those of another. */
export function ratioOf(side: SideResult, other: SideResult): number {
  return answersPerSecond(side) / answersPerSecond(other);
}

/** Processor microseconds of the server per answer: all threads and the kernel. */
export function cpuMicroseconds({ server, answers }: SideResult): number {
  return (1e6 * server.all) / answers;
}

/**
 * Reports whether the generator was the limit: it took more than 0.9 of a core, and the main thread of the server ran for less than that or than the
 * generator. Over loopback a bare handler and its generator do equal work, so both may take a whole core.
 */
export function isVoid({ server, cpu, seconds }: SideResult): boolean {
  return demandOf(cpu, seconds) > MOST_OF_CORE && server.main <= Math.max(MOST_OF_CORE * seconds, cpu.main);
}

/** The ratio of a side to the bare handler, or what is known of it where a generator was the limit. */
export function ratioCell(side: SideResult, bare: SideResult): string {
  const ratio = ratioOf(side, bare).toFixed(2);
  if (isVoid(side)) return isVoid(bare) ? 'void' : `void, at least ${ratio}`;
  return isVoid(bare) ? `void, at most ${ratio}` : ratio;
}

/** Percent of the time in which a main thread ran / in which it would have run with a core to itself. */
export function busyCell(cpu: Cpu, seconds: number): string {
  if (cpu.main === 0) return 'unknown';
  const percent = (share: number) => Math.round(100 * share);
  return `${percent(cpu.main / seconds)}/${percent(demandOf(cpu, seconds))}`;
}

/** The busier main thread. */
export function bottleneckOf({ server, cpu, seconds }: SideResult): string {
  const [serverDemand, generatorDemand] = [demandOf(server, seconds), demandOf(cpu, seconds)];
  const [name, busier] = serverDemand > generatorDemand ? ['server', server] : ['generator', cpu];
  if (busier.main === 0) return 'unknown';
  const busiest = `${name} ${busyCell(busier, seconds)} %`;
  return Math.max(serverDemand, generatorDemand) < 0.8 ? `waiting, ${busiest}` : busiest;
}

function demandOf({ main, starved }: Cpu, seconds: number): number {
  return Math.min(1, (main + starved) / seconds);
}
