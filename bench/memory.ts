import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../test/testbed/in-parallel.js';
import { printStep } from '../test/testbed/progress.js';
import { seededRandom } from '../test/testbed/random.js';
import { startServer } from '../test/testbed/server.js';
import { Connections } from './load/connections.js';
import { NODES } from './load/messages.js';
import { OpenQueue } from './load/open-queue.js';
import { memoryCells, readResidentMemory } from './load/resident-memory.js';
import { Tally } from './load/tally.js';
import type { Result } from './results.js';

/** Memory of many open queues. */

export interface MemoryOptions {
  queues: number;
  files?: number;
  /** Pause between the last request and the reading of memory. */
  settleSeconds?: number;
}

const PULLS_EACH = 5;
const CONNECTIONS = 4;
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
    const connections = new Connections(server.url, CONNECTIONS);
    const settled = async () => {
      await sleep(settleSeconds * 1000);
      return memoryCells(readResidentMemory(server.pid));
    };
    try {
      const started = await settled();
      const opened = Array.from({ length: queues }, (_, number) => new OpenQueue(`scattered-${number}`, connections));
      await inParallel(CONNECTIONS, opened, queue => queue.create(files));
      const created = await settled();
      const { p50Milliseconds, p99Milliseconds } = await pullFromAll(opened);
      const pulled = await settled();
      rows.push([cache, p50Milliseconds.toFixed(2), p99Milliseconds.toFixed(2), ...started, ...created, ...pulled]);
    } finally {
      connections.close();
      await server.stop();
    }
  }
  const legend =
    `Memory of the server, ${settleSeconds} s after the last request: ${queues} queues of ${files} files (paths of 62 characters) ` +
    `created over ${CONNECTIONS} connections, then ${PULLS_EACH} times as many pulls in random order over all of them. anonymous: heaps, buffers, stacks. of ` +
    'files: the program and pages of the store, which the system reclaims when it needs memory.';
  return [{ title: 'Memory', head, rows, legend }];
}

/** A few pulls from each queue, in random order, as fast as the server answers. */
async function pullFromAll(queues: readonly OpenQueue[]) {
  const random = seededRandom(1);
  const tally = new Tally();
  const places = Array.from({ length: PULLS_EACH }, () => queues).flatMap(all => all.map(queue => ({ queue, place: random() })));
  await inParallel(
    CONNECTIONS,
    places.sort((a, b) => a.place - b.place),
    async ({ queue }) => tally.recordAnswer((await queue.pull(Math.floor(random() * NODES))).milliseconds),
  );
  return tally.outcome();
}
