import { setTimeout as sleep } from 'node:timers/promises';
import { printStep } from '../test/testbed/progress.js';
import { startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import type { LoadPlan, LoadQuestion } from './load/loader.js';
import { mebibytes, type ResidentMemory, readResidentMemory } from './load/resident-memory.js';
import { assertNoFailures, type LoadOutcome } from './load/tally.js';
import type { Result } from './results.js';

/** Growth of memory under a continuous mixed load. */

export interface SoakOptions {
  minutes: number;
  files?: number;
  /** Open queues at a time. */
  queues?: number;
}

/** Readings of memory, evenly distributed over the time. */
const READINGS = 300;
/** The size of the queue cache. It is full within the first third, so that later growth has another cause. */
const CACHE_BYTES = 16 * 2 ** 20;
const KINDS = ['queue', 'split', 'recording'] as const;

const head = ['memory', 'first third: mean MiB', 'last third: mean MiB', 'growth', 'max MiB'];

export async function soak({ minutes, files = 5000, queues = 50 }: SoakOptions): Promise<Result[]> {
  const server = await startServer({ flags: ['--queue-cache-bytes', String(CACHE_BYTES)] });
  const loader = new Worker<LoadQuestion, LoadOutcome[] | null>('bench/load/loader.js');
  try {
    const plans: LoadPlan[] = [
      { kind: 'pulls', perSecond: 200, connections: 8, queues, files: 1000 },
      ...KINDS.map(what => ({ kind: 'suites', what, files, nodes: 32, pauseMilliseconds: 2000 }) as const),
    ];
    await loader.ask({ verb: 'prepare', url: server.url, plans });
    printStep(`soak: ${minutes} minutes`);
    await loader.ask({ verb: 'begin' });
    const readings: ResidentMemory[] = [];
    const end = performance.now() + minutes * 60_000;
    while (performance.now() < end) {
      await sleep((minutes * 60_000) / READINGS);
      readings.push(readResidentMemory(server.pid));
    }
    const outcomes = await loader.ask<LoadOutcome[]>({ verb: 'end' });
    assertNoFailures(outcomes);
    return [{ title: 'Soak', head, rows: toRows(readings), legend: toLegend(minutes, files, outcomes, readings.length) }];
  } finally {
    await Promise.all([loader.stop(), server.stop()]);
  }
}

function toRows(readings: readonly ResidentMemory[]): string[][] {
  const third = Math.ceil(readings.length / 3);
  const row = (name: string, bytesOf: (resident: ResidentMemory) => number): string[] => {
    const mean = (part: readonly ResidentMemory[]) => part.reduce((sum, resident) => sum + bytesOf(resident), 0) / part.length;
    const [first, last] = [mean(readings.slice(0, third)), mean(readings.slice(-third))];
    const most = Math.max(...readings.map(bytesOf));
    return [name, mebibytes(first), mebibytes(last), `${((last / first - 1) * 100).toFixed(1)} %`, mebibytes(most)];
  };
  return [row('all', ({ all }) => all), row('anonymous', ({ anonymous }) => anonymous), row('of files', ({ ofFiles }) => ofFiles)];
}

function toLegend(minutes: number, files: number, outcomes: readonly LoadOutcome[], readings: number): string {
  const [pulls, queues, splits, recordings] = outcomes.map(({ answers }) => answers);
  return (
    `${minutes} minutes of ${pulls} pulls from queues of 1,000 files that are replaced when they end, ${queues} queues, ${splits} splits and ` +
    `${recordings} recordings of ${files} files; ${readings} readings of the server’s memory. Queue cache: ${mebibytes(CACHE_BYTES)} MiB. of files: pages of the growing store, which ` +
    'the system reclaims when it needs memory.'
  );
}
