import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../test/testbed/in-parallel.js';
import { QUEUE, RECORDING, SPLIT } from '../test/testbed/node-process.js';
import { createDatabase, startCluster } from '../test/testbed/postgresql.js';
import { printStep } from '../test/testbed/progress.js';
import { type Server, startServer } from '../test/testbed/server.js';
import { Connections, expectAnswer } from './load/connections.js';
import { createQueueBody, longTestPath, nodeFields, splitBody, testFiles } from './load/messages.js';
import { OpenQueue } from './load/open-queue.js';
import type { Result } from './results.js';

/** Times of the first large requests in a new store that has served small ones, and waits of small ones beside them. */

export interface GrowingOptions {
  /** Files of the large requests. */
  files: number;
  /** Small requests before them. */
  small: number;
}

/** Milliseconds between the small requests of each of two loops, beside the large one. */
const PAUSE = 10;
const NODES = 16;

const ownPath = (file: number) => longTestPath(file).replace('checkout', 'search');
const timed = (count: number, pathOf: (file: number) => string) =>
  testFiles(count, pathOf).test_files.map(file => ({ ...file, time_execution: 1.2345 }));

export async function growing(options: GrowingOptions): Promise<Result[]> {
  const cluster = await startCluster({ fsync: 'on', shared_buffers: '128MB' });
  if (!cluster) throw new Error('there are no programs of PostgreSQL for this machine: install it, with initdb on the PATH');
  try {
    const rows = [
      ...(await grown('folder', undefined, options)),
      ...(await grown('database', await createDatabase(cluster.url, 'new'), options)),
    ];
    const head = ['store', 'request', 'seconds', 'recordings', 'p99 ms', 'longest ms', 'pulls', 'p99 ms', 'longest ms'];
    const legend =
      `Requests of ${options.files} files, one after another, to a new server that has answered ${options.small} small ones, and beside each ` +
      `recordings of four files and pulls, one at a time with ${PAUSE} ms between them, until it is answered. PostgreSQL runs on the same cores, with its default settings.`;
    return [{ title: 'The first large requests', head, rows, legend }];
  } finally {
    await cluster.stop();
  }
}

async function grown(store: string, database: string | undefined, { files, small }: GrowingOptions): Promise<string[][]> {
  printStep(`growing: ${store}`);
  const server = await startServer(database === undefined ? {} : { database });
  const connections = new Connections(server.url, NODES);
  try {
    const queue = new OpenQueue('small', connections);
    await queue.create(10_000);
    const record = async (number: number) => {
      const node = nodeFields('small', Math.floor(number / NODES), number % NODES, NODES);
      const test_files = timed(4, file => longTestPath((4 * number + file) % 400));
      const answer = await connections.post(RECORDING, JSON.stringify({ ...node, test_files }));
      expectAnswer(answer, 201);
      return answer;
    };
    await inParallel(NODES, Array(small).keys(), number => (number % 4 === 0 ? queue.pull(number % 8) : record(number)));
    const beside = { record, pull: (number: number) => queue.pull(number % 8) };
    const rows: string[][] = [];
    let from = small;
    for (const [name, path, body] of largeRequests(files)) {
      const measured = await measure(server, path, JSON.stringify(body), beside, from);
      rows.push([store, name, ...measured.cells]);
      from += measured.count;
    }
    return rows;
  } finally {
    connections.close();
    await server.stop();
  }
}

function largeRequests(files: number): [name: string, path: string, body: object][] {
  const record = (build: number, pathOf: (file: number) => string) => ({
    ...nodeFields('large', build, 0),
    test_files: timed(files, pathOf),
  });
  return [
    ['recording, new paths', RECORDING, record(0, ownPath)],
    ['the same paths again', RECORDING, record(1, ownPath)],
    ['recording, other new paths', RECORDING, record(2, file => `other/${ownPath(file)}`)],
    ['split', SPLIT, { ...splitBody('large', 0), ...testFiles(files, ownPath) }],
    ['queue', QUEUE, { ...createQueueBody('large', 3), ...testFiles(files, ownPath) }],
  ];
}

type Beside = Record<'record' | 'pull', (number: number) => Promise<{ milliseconds: number }>>;

/** Sends a large request, and small ones beside it. Returns the cells of its row, and how many recordings were small. */
async function measure(server: Server, path: string, body: string, { record, pull }: Beside, from: number) {
  const own = new Connections(server.url, 1);
  let isOver = false;
  const loop = async (send: (number: number) => Promise<{ milliseconds: number }>) => {
    const times: number[] = [];
    for (let number = from; !isOver; number++) {
      times.push((await send(number)).milliseconds);
      await sleep(PAUSE);
    }
    return times.sort((a, b) => a - b);
  };
  const loops = [loop(record), loop(pull)];
  const large = await own.post(path, body);
  isOver = true;
  own.close();
  const small = await Promise.all(loops);
  const status = large.status < 300 ? '' : ` (${large.status})`;
  const cellsOf = (times: readonly number[]) => [
    String(times.length),
    times[Math.floor(0.99 * times.length)]!.toFixed(0),
    times.at(-1)!.toFixed(0),
  ];
  return { cells: [`${(large.milliseconds / 1000).toFixed(2)}${status}`, ...small.flatMap(cellsOf)], count: small[0]!.length };
}
