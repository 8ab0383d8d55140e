import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder } from './load/cleanup.js';
import { createExpiredFolder } from './load/seeded-folders.js';
import { type Server, startServer } from './load/server.js';
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
import { Worker } from './load/worker.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** Whether the deletion of expired records delays requests. */

export interface SweepingOptions {
  /** Number of expired subsets, queues and splits. */
  records: number;
  pullsPerSecond?: number;
  /** Queues to pull from. */
  queues?: number;
  /** Duration of the same load after the sweep. */
  seconds: number;
}

const POLL_MILLISECONDS = 250;
const head = ['load', 's', ...monitorHead, ...pullHead];

export async function sweeping({ records, pullsPerSecond = 100, queues = 50, seconds }: SweepingOptions): Promise<Result[]> {
  const dataDir = await createExpiredFolder(records);
  try {
    const server = await startServer({ dataDir, measuresLoopDelay: true });
    // The sweep begins when the server starts.
    const from = performance.now();
    const monitor = new ServerMonitor(server);
    const loader: Loader = new Worker('bench/load/loader.js');
    try {
      printStep('sweeping');
      const pulls = { kind: 'pulls', perSecond: pullsPerSecond, connections: 4, queues, files: 1000 } as const;
      await loader.ask({ verb: 'prepare', url: server.url, plans: [pulls] });
      const during = await monitor.measure([loader], () => untilSwept(server));
      const sweepSeconds = (performance.now() - from) / 1000;
      const after = await monitor.measure([loader], () => sleep(seconds * 1000));
      const row = (name: string, duration: number, seen: Measurement) => [
        name,
        duration.toFixed(1),
        ...monitorCells(seen),
        ...pullCells(seen.outcomes[0]),
      ];
      const legend =
        `${records} records that are expired when the server starts: a tenth are queues and splits of 20 files, the others recorded ` +
        `subsets, each of its own build. s: from the time when the server listens until all are deleted. pulls: ${pullsPerSecond} per second over 4 connections, ` +
        `from queues of 1,000 files that are replaced when they end; afterwards the same load for ${seconds} s. ${monitorLegend}`;
      return [{ title: 'Sweep', head, rows: [row('pulls, sweep', sweepSeconds, during), row('pulls', seconds, after)], legend }];
    } finally {
      await Promise.all([loader.stop(), monitor.stop(), server.stop()]);
    }
  } finally {
    removeFolder(dataDir);
  }
}

/** The newest expired record is a build, so that the sweep is over when there are no builds. */
async function untilSwept(server: Server): Promise<void> {
  for (;;) {
    const { data } = (await server.get('/v1/builds')) as { data: unknown[] };
    if (data.length === 0) return;
    await sleep(POLL_MILLISECONDS);
  }
}
