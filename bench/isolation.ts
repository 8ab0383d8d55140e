import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from './load/server.js';
import {
  type Loader,
  type Measurement,
  monitorCells,
  monitorHead,
  monitorLegend,
  pullCells,
  pullHead,
  ServerMonitor,
} from './load/server-monitor.js';
import type { LoadOutcome } from './load/tally.js';
import { Worker } from './load/worker.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** Whether large suites delay small requests. */

export interface IsolationOptions {
  /** Duration of each of the three loads. */
  seconds: number;
  pullsPerSecond?: number;
  /** Files of a suite, which is initialised, or recorded in two requests. */
  files?: number;
}

const NODES = 64;
const head = ['load', ...monitorHead, ...pullHead, 'initialised', 'median ms', 'recorded', 'median ms'];

export async function isolation({ seconds, pullsPerSecond = 500, files = 10_000 }: IsolationOptions): Promise<Result[]> {
  const server = await startServer({ measuresLoopDelay: true });
  const monitor = new ServerMonitor(server);
  const small: Loader = new Worker('bench/load/loader.js');
  const large: Loader = new Worker('bench/load/loader.js');
  const { url } = server;
  try {
    printStep('isolation: preparing');
    // The queues last for more than twice the pulls that are sent, so none has to be replaced.
    const queues = Math.ceil((2 * seconds * pullsPerSecond) / 60);
    const pulls = { kind: 'pulls', perSecond: pullsPerSecond, connections: 8, queues, files: 1000 } as const;
    await small.ask({ verb: 'prepare', url, plans: [pulls] });
    const succession = { kind: 'succession', pauseMilliseconds: 0, files, nodes: NODES } as const;
    const plans = [
      { ...succession, what: 'queue' },
      { ...succession, what: 'recording' },
    ] as const;
    await large.ask({ verb: 'prepare', url, plans: [...plans] });

    const rows: string[][] = [];
    const loads: [string, Loader[]][] = [
      ['nothing', []],
      ['pulls', [small]],
      ['pulls, large suites', [small, large]],
    ];
    for (const [name, loaders] of loads) {
      printStep(`isolation: ${name}`);
      rows.push([name, ...toCells(await monitor.measure(loaders, () => sleep(seconds * 1000)))]);
    }
    const legend =
      `${seconds} s each on one server. pulls: ${pullsPerSecond} per second from queues of 1,000 files, over 8 connections. large suites: ` +
      `initialisations of ${files} files for ${NODES} nodes in sequence, and at the same time recordings of 5,000 files in ` +
      `sequence, all from one process. ${monitorLegend}`;
    return [{ title: 'Isolation', head, rows, legend }];
  } finally {
    await Promise.all([small.stop(), large.stop(), monitor.stop(), server.stop()]);
  }
}

function toCells(seen: Measurement): string[] {
  const [pulls, ...large] = seen.outcomes;
  const largeCells = (outcome: LoadOutcome | undefined) =>
    outcome ? [String(outcome.answers), outcome.p50Milliseconds.toFixed(0)] : ['0', '-'];
  return [...monitorCells(seen), ...pullCells(pulls), ...largeCells(large[0]), ...largeCells(large[1])];
}
