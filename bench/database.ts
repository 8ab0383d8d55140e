import { readFileSync } from 'node:fs';
import { headers } from '../test/testbed/client.js';
import { type Cluster, createDatabase, dropDatabase, startCluster } from '../test/testbed/postgresql.js';
import { printStep } from '../test/testbed/progress.js';
import { startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import type { Generator } from './load/compare.js';
import { type Cpu, cpuBetween, readCpu } from './load/cpu.js';
import { generators } from './load/generators.js';
import { answersPerSecond, bottleneckOf, cpuMicroseconds, isVoid, ratioOf, type SideResult } from './load/side.js';
import { type Trial, trials } from './load/trials.js';
import type { Result } from './results.js';

/** Pulls and recordings with the store in PostgreSQL on this machine, beside those with a folder, in alternation. */

export interface DatabaseOptions {
  /** In a round. */
  answers: number;
  connections: number;
  /** The folder for CPU profiles of the servers. */
  cpuProf?: string;
}

const ROUNDS = 3;
let databases = 0;
const head = [
  'trial',
  'folder req/s',
  'database req/s',
  'ratio',
  'rounds',
  'folder p50 ms',
  'database p50 ms',
  'folder p99 ms',
  'database p99 ms',
];
const costs = ['folder CPU us', 'database CPU us', 'of it PostgreSQL us', 'folder limit', 'database limit'];

export async function database(options: DatabaseOptions): Promise<Result[]> {
  const cluster = await startCluster({ fsync: 'on', shared_buffers: '256MB' });
  if (!cluster) throw new Error('there are no programs of PostgreSQL for this machine: install it, with initdb on the PATH');
  try {
    const rows: string[][] = [];
    for (const [name, trial] of Object.entries<Trial>({ pulls: trials.pulls, recording: trials.recording })) {
      printStep(`${name}, with a folder and with PostgreSQL: ${trial.about}`);
      rows.push([name, ...(await compared(trial, cluster, options))]);
    }
    const legend =
      `${options.answers} answers over ${options.connections} connections to each server in each of three rounds, one server after the other, with prepared requests ` +
      'over raw sockets of Node. Both flush what they acknowledge to the same disk; PostgreSQL runs on the same cores, with its default ' +
      'settings but for 256 MB of shared buffers. ratio: of the requests per second, in the median round; rounds: the lowest and the highest. ' +
      'CPU us: processor time for a request, all threads and the kernel, with that of PostgreSQL. void: the generator was the limit.';
    return [{ title: 'A database beside a folder', head: [...head, ...costs], rows, legend }];
  } finally {
    await cluster.stop();
  }
}

interface Side extends SideResult {
  /** Of PostgreSQL. */
  database: Cpu;
}

/** Compares in rounds, each with new servers. */
async function compared(trial: Trial, cluster: Cluster, options: DatabaseOptions): Promise<string[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const folder = await load(trial, cluster, undefined, options);
    const name = `bench_${databases++}`;
    const database = await load(trial, cluster, await createDatabase(cluster.url, name), options);
    await dropDatabase(cluster.url, name);
    rounds.push({ folder, database, ratio: ratioOf(database, folder) });
  }
  return cellsOf(rounds.sort((a, b) => a.ratio - b.ratio));
}

/** @param url of the database; undefined: the server has a folder */
async function load(trial: Trial, cluster: Cluster, url: string | undefined, options: DatabaseOptions): Promise<Side> {
  const { answers, connections, cpuProf } = options;
  const generator: Generator = new Worker(generators.sockets);
  const server = await startServer({ cpuProf, ...(url === undefined ? {} : { database: url }) });
  try {
    const bodies = await trial.setUp(server, 2 * answers);
    const { path, status, expected } = trial;
    const plan = { url: server.url + path, bodies, expected, headers, seconds: 60, connections, status };
    const warm = await generator.ask({ ...plan, from: 0, amount: answers / 4 });
    const [before, databaseBefore] = [readCpu(server.pid), cpuOf(cluster)];
    const outcome = await generator.ask({ ...plan, from: warm.next, amount: answers });
    if (outcome.failures > 0) throw new Error(`${outcome.failures} requests of the trial ${trial.about} failed`);
    return { ...outcome, server: cpuBetween(before, readCpu(server.pid)), database: cpuBetween(databaseBefore, cpuOf(cluster)) };
  } finally {
    await Promise.all([server.stop(), generator.stop()]);
  }
}

interface Round {
  folder: Side;
  database: Side;
  ratio: number;
}

/** @param rounds by their ratio */
function cellsOf(rounds: readonly Round[]): string[] {
  const { folder, database, ratio } = rounds[ROUNDS >> 1]!;
  const sides = [folder, database];
  const ofPostgresql = (1e6 * database.database.all) / database.answers;
  return [
    ...sides.map(side => answersPerSecond(side).toFixed(0)),
    sides.some(isVoid) ? `void, ${ratio.toFixed(2)}` : ratio.toFixed(2),
    `${rounds[0]!.ratio.toFixed(2)} - ${rounds.at(-1)!.ratio.toFixed(2)}`,
    ...sides.map(side => side.p50Milliseconds.toFixed(2)),
    ...sides.map(side => side.p99Milliseconds.toFixed(2)),
    cpuMicroseconds(folder).toFixed(1),
    (cpuMicroseconds(database) + ofPostgresql).toFixed(1),
    ofPostgresql.toFixed(1),
    ...sides.map(bottleneckOf),
  ];
}

/** The processor time of the processes of a cluster: one for each connection, and those that write. */
function cpuOf({ pid }: Cluster): Cpu {
  const sum: Cpu = { all: 0, kernel: 0, main: 0, starved: 0 };
  for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')) {
    const { all, kernel } = readCpu(Number(child));
    sum.all += all;
    sum.kernel += kernel;
  }
  return sum;
}
