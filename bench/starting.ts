import { spawnSync } from 'node:child_process';
import { median } from '../src/planning/estimating/median.js';
import type { SeededFolders } from './load/seeded-folders.js';
import { startServer } from './load/server.js';
import type { Result } from './results.js';

/** How long the server takes to start, and whether stored data slows it. */

export interface StartingOptions {
  builds: number;
  times: number;
}

const head = ['folder', 'median ms', 'min ms', 'max ms'];

export async function starting({ builds, times }: StartingOptions, seeds: SeededFolders): Promise<Result[]> {
  const dataDir = await seeds.withBuilds(builds);
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
  const queues = Math.ceil(builds / 100);
  const legend =
    `From the spawn of the process to the line with its URL, ${times} times each, alternately; of node -e 0, to its end. Files are in the ` +
    `system’s cache. The median of the empty folder is ${(median(empty) / median(bare)).toFixed(1)} times that of node -e 0, and that of the ` +
    `full one ${(median(full) / median(empty)).toFixed(2)} times that of the empty one.`;
  return [
    {
      title: 'Start',
      head,
      rows: [row('node -e 0', bare), row('empty', empty), row(`${builds} builds, ${queues} open queues`, full)],
      legend,
    },
  ];
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
