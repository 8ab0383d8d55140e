import { median } from '../src/planning/estimating/median.js';
import { cpuBetween, readCpu } from './load/cpu.js';
import { type Server, startServer } from './load/server.js';
import { initializeTemplate, type ListKind, type PlanKind } from './load/suite-bodies.js';
import type { SuiteQuestion } from './load/suite-client.js';
import { Worker } from './load/worker.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** How long an idle server takes to create a queue or a split from a whole suite. */

export interface InitializingOptions {
  times: number;
  /** Files and nodes. */
  sizes?: readonly (readonly [files: number, nodes: number])[];
}

/** Requests of each kind before the measurement, until all code is compiled. */
const WARM_UP = 3;

const SIZES = [
  [10_000, 64],
  [100_000, 200],
] as const;

const head = ['initialised', 'timings', 'list', 'body MB', 'median ms', 'max ms', 'JSON.parse ms', 'ratio', 'max ratio', 'server CPU ms'];

type Client = Worker<SuiteQuestion, number[]>;

export async function initializing({ times, sizes = SIZES }: InitializingOptions): Promise<Result[]> {
  const rows: string[][] = [];
  for (const size of sizes) {
    printStep(`initialising ${size[0]} files`);
    rows.push(...(await measureSize(size, times)));
  }
  const legend =
    `Time from sending the body to receiving the answer: ${times} requests after ${WARM_UP} for warm-up, in sequence on an idle server, each for a new build. ` +
    'The client, a process of its own, has prepared the body. timings: whether the paths were recorded before, in two builds; if so, a node of another build records 20 of them 150 ms before each request, as in CI. ' +
    'list: the same as in the request before, with ten paths that no request had, or with such paths only. ' +
    'JSON.parse: median for the same body, in the client. ratio: median ms, and max ms, over JSON.parse ms. server CPU: all threads, per request.';
  return [{ title: 'Initialising', head, rows, legend }];
}

async function measureSize([files, nodes]: readonly [number, number], times: number): Promise<string[][]> {
  const server = await startServer();
  const client: Client = new Worker('bench/load/suite-client.js');
  try {
    const rows = [];
    let from = 0;
    for (const isKnown of [false, true]) {
      if (isKnown) await client.ask({ verb: 'record', url: server.url, files });
      for (const what of ['queue', 'split'] as const) {
        // A list of new paths has no known timings.
        for (const list of isKnown ? (['changed', 'same'] as const) : (['new', 'changed', 'same'] as const)) {
          const row = await measureKind({ client, server, what, files, nodes, list, from, times, isKnown });
          rows.push([`${what}: ${files} files, ${nodes} nodes`, isKnown ? 'known' : 'none', list, ...row]);
          from += times + WARM_UP;
        }
      }
    }
    return rows;
  } finally {
    await Promise.all([client.stop(), server.stop()]);
  }
}

interface Kind {
  client: Client;
  server: Server;
  what: PlanKind;
  files: number;
  nodes: number;
  list: ListKind;
  from: number;
  times: number;
  /** The times of the files are known, and nodes of other builds record some of them between two requests. */
  isKnown: boolean;
}

async function measureKind({ client, server, times, from, isKnown, ...kind }: Kind): Promise<string[]> {
  const question = { verb: 'initialize', url: server.url, ...kind, records: isKnown } as const;
  await client.ask({ ...question, from, times: WARM_UP });
  const before = readCpu(server.pid);
  const milliseconds = await client.ask({ ...question, from: from + WARM_UP, times });
  const { all } = cpuBetween(before, readCpu(server.pid));
  const parse = median((await client.ask({ verb: 'parse', ...kind, times: times + WARM_UP })).slice(WARM_UP));
  const typical = median(milliseconds);
  const max = Math.max(...milliseconds);
  return [
    ...[initializeTemplate(kind.what, kind.files, kind.nodes, kind.list).bytes / 1e6, typical, max, parse].map(value => value.toFixed(1)),
    ...[typical / parse, max / parse].map(value => value.toFixed(1)),
    ((all * 1000) / times).toFixed(0),
  ];
}
