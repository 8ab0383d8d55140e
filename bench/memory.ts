import { setTimeout as sleep } from 'node:timers/promises';
import { memoryCells, readResidentMemory } from './load/resident-memory.js';
import { startServer } from './load/server.js';
import type { Loader } from './load/server-monitor.js';
import { assertNoFailures, type LoadOutcome } from './load/tally.js';
import { Worker } from './load/worker.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** How much memory many open queues take. */

export interface MemoryOptions {
  queues: number;
  files?: number;
  /** Pause between the last request and the reading of memory. */
  settleSeconds?: number;
}

const PULLS_EACH = 5;
const MIB = 1_048_576;
const CACHES = [
  ['default', []],
  ['32 MiB', ['--queue-cache-bytes', String(32 * MIB)]],
] as const;

const resident = ['MiB', 'anonymous', 'of files'];
const head = [
  'queue cache',
  'pulls p50 ms',
  'p99 ms',
  ...['at start:', 'created:', 'pulled:'].flatMap(when => resident.map(what => `${when} ${what}`)),
];

export async function memory({ queues, files = 1000, settleSeconds = 5 }: MemoryOptions): Promise<Result[]> {
  const rows: string[][] = [];
  for (const [cache, flags] of CACHES) {
    printStep(`memory: ${queues} queues, cache: ${cache}`);
    const server = await startServer({ flags });
    const loader: Loader = new Worker('bench/load/loader.js');
    const settled = async () => {
      await sleep(settleSeconds * 1000);
      return memoryCells(readResidentMemory(server.pid));
    };
    try {
      const started = await settled();
      const plan = { kind: 'scattered', queues, files, pullsEach: PULLS_EACH, connections: 4 } as const;
      await loader.ask({ verb: 'prepare', url: server.url, plans: [plan] });
      const created = await settled();
      await loader.ask({ verb: 'begin' });
      const outcomes = await loader.ask<LoadOutcome[]>({ verb: 'end' });
      assertNoFailures(outcomes);
      const [{ p50Milliseconds, p99Milliseconds }] = outcomes as [LoadOutcome];
      const pulled = await settled();
      rows.push([cache, p50Milliseconds.toFixed(2), p99Milliseconds.toFixed(2), ...started, ...created, ...pulled]);
    } finally {
      await Promise.all([loader.stop(), server.stop()]);
    }
  }
  const legend =
    `Memory of the server, ${settleSeconds} s after the last request: ${queues} queues of ${files} files (paths of 62 characters) ` +
    `created over 4 connections, then ${PULLS_EACH} times as many pulls in random order over all of them. anonymous: heaps, buffers, stacks. of ` +
    'files: the program and pages of the store, which the system reclaims when it needs memory.';
  return [{ title: 'Memory', head, rows, legend }];
}
