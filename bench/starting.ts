import { spawnSync } from 'node:child_process';
import { median } from '../src/server/planning/estimating/median.js';
import { removeFolder, temporaryFolder } from '../test/testbed/cleanup.js';
import { inParallel } from '../test/testbed/in-parallel.js';
import { RECORDING } from '../test/testbed/node-process.js';
import { printProgress } from '../test/testbed/progress.js';
import { startServer } from '../test/testbed/server.js';
import { Connections, expectAnswer } from './load/connections.js';
import { longTestPath, NODES, nodeFields } from './load/messages.js';
import { OpenQueue } from './load/open-queue.js';
import type { Result } from './results.js';

/** Start time of the server, with and without stored data. */

export interface StartingOptions {
  builds: number;
  times: number;
}

/** Files of the builds, three in each. */
const PATHS = 1000;
/** Number of files in each queue. */
const QUEUE_FILES = 100;

const head = ['folder', 'median ms', 'min ms', 'max ms'];

export async function starting({ builds, times }: StartingOptions): Promise<Result[]> {
  const dataDir = temporaryFolder();
  try {
    const queues = Math.ceil(builds / 100);
    await seed(dataDir, builds, queues);
    return [await measure(dataDir, `${builds} builds, ${queues} open queues`, times)];
  } finally {
    removeFolder(dataDir);
  }
}

/** Records builds, a node of each, of which every other one is on main, and creates queues. */
async function seed(dataDir: string, builds: number, queues: number): Promise<void> {
  const server = await startServer({ dataDir });
  const connections = new Connections(server.url, 64);
  try {
    await inParallel(64, Array(builds).keys(), async build => {
      printProgress('seeding builds', build + 1, builds);
      const branch = build % 2 ? 'main' : `feature-${(build / 2) % 1000}`;
      const test_files = [0, 1, 2].map(i => ({ path: longTestPath((build + i) % PATHS), time_execution: 1.2345 * (i + 1) }));
      const body = JSON.stringify({ ...nodeFields('seed', build, build % NODES), branch, test_files });
      expectAnswer(await connections.post(RECORDING, body), 201);
    });
    await inParallel(16, Array(queues).keys(), number => {
      printProgress('seeding queues', number + 1, queues);
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
