import { median } from '../src/planning/estimating/median.js';
import type { SeededFolders } from './load/seeded-folders.js';
import { startServer } from './load/server.js';
import type { Result } from './results.js';

/** Whether stored data slows the start of the server. */

export interface StartingOptions {
  builds: number;
  times: number;
}

const head = ['folder', 'median ms', 'min ms', 'max ms'];

export async function starting({ builds, times }: StartingOptions, seeds: SeededFolders): Promise<Result[]> {
  const dataDir = await seeds.withBuilds(builds);
  const empty: number[] = [];
  const full: number[] = [];
  // The first start reads the program from disk, so it is not counted.
  await timeStart();
  for (let i = 0; i < times; i++) {
    empty.push(await timeStart());
    full.push(await timeStart(dataDir));
  }
  const row = (name: string, milliseconds: number[]) => [
    name,
    ...[median(milliseconds), Math.min(...milliseconds), Math.max(...milliseconds)].map(value => value.toFixed(0)),
  ];
  const queues = Math.ceil(builds / 100);
  const legend =
    `From the spawn of the process to the line with its URL, ${times} times each, alternately. Files are in the system’s cache. ` +
    `Ratio of the medians: ${(median(full) / median(empty)).toFixed(2)}.`;
  return [{ title: 'Start', head, rows: [row('empty', empty), row(`${builds} builds, ${queues} open queues`, full)], legend }];
}

async function timeStart(dataDir?: string): Promise<number> {
  const server = await startServer(dataDir === undefined ? {} : { dataDir });
  await server.stop();
  return server.startMilliseconds;
}
