import { spawnSync } from 'node:child_process';
import { median } from '../src/server/planning/estimating/median.js';
import { removeFolder, temporaryFolder } from '../test/testbed/cleanup.js';
import { inParallel } from '../test/testbed/in-parallel.js';
import { printProgress } from '../test/testbed/progress.js';
import { startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import { Connections } from './load/connections.js';
import { OpenQueue } from './load/open-queue.js';
import type { Seed } from './load/seed.js';
import type { Result } from './results.js';

/** How long the server takes to start, and whether stored data slows it. */

export interface StartingOptions {
  builds: number;
  times: number;
}

/** Number of files in each queue. */
const QUEUE_FILES = 100;

const head = ['folder', 'median ms', 'min ms', 'max ms'];

export async function starting({ builds, times }: StartingOptions): Promise<Result[]> {
  const dataDir = temporaryFolder();
  try {
    const queues = Math.ceil(builds / 100);
    await seedBuilds({ folder: dataDir, builds });
    await seedQueues(dataDir, queues);
    return [await measure(dataDir, `${builds} builds, ${queues} open queues`, times)];
  } finally {
    removeFolder(dataDir);
  }
}

async function seedBuilds(seed: Seed): Promise<void> {
  const seeder = new Worker<Seed, null>('bench/load/seed.js');
  await seeder.ask(seed).finally(() => seeder.stop());
}

/** Creates queues from which one node has pulled. */
async function seedQueues(dataDir: string, count: number): Promise<void> {
  const server = await startServer({ dataDir });
  const connections = new Connections(server.url, 16);
  try {
    await inParallel(16, Array(count).keys(), number => {
      printProgress('seeding queues', number + 1, count);
      return new OpenQueue(`seed-${number}`, connections).create(QUEUE_FILES);
    });
  } finally {
    connections.close();
    await server.stop();
  }
}

async function measure(dataDir: string, name: string, times: number): Promise<Result> {
  const bare: number[] = [];
  const empty: number[] = [];
  const full: number[] = [];
  // The first start reads the program from disk, so it is not counted.
  await timeStart();
  for (let i = 0; i < times; i++) {
    bare.push(timeNode());
    empty.push(await timeStart());
    full.push(await timeStart(dataDir));
  }
  const row = (name: string, milliseconds: number[]) => [
    name,
    ...[median(milliseconds), Math.min(...milliseconds), Math.max(...milliseconds)].map(value => value.toFixed(0)),
  ];
  const legend =
    `From the spawn of the process to the line with its URL, ${times} times each, alternately; of node -e 0, to its end. Files are in the ` +
    `system’s cache. The median of the empty folder is ${(median(empty) / median(bare)).toFixed(1)} times that of node -e 0, and that of the ` +
    `full one ${(median(full) / median(empty)).toFixed(2)} times that of the empty one.`;
  return { title: 'Start', head, rows: [row('node -e 0', bare), row('empty', empty), row(name, full)], legend };
}

function timeNode(): number {
  const begun = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - begun;
}

async function timeStart(dataDir?: string): Promise<number> {
  const server = await startServer(dataDir === undefined ? {} : { dataDir });
  await server.stop();
  return server.startMilliseconds;
}
