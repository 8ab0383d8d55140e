import { readFileSync } from 'node:fs';
import { removeFolder, temporaryFolder } from './load/cleanup.js';
import type { Generator } from './load/compare.js';
import { type Cpu, cpuBetween, readCpu } from './load/cpu.js';
import { findInstalled, generators } from './load/generators.js';
import { Cluster, createDatabase } from './load/postgresql.js';
import { headers, type Server, startServer } from './load/server.js';
import { answersPerSecond, bottleneckOf, cpuMicroseconds, isVoid, ratioOf, type SideResult } from './load/side.js';
import { type Trial, trials } from './load/trials.js';
import { Worker } from './load/worker.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** Ended pulls and recordings with the store in PostgreSQL on this machine, beside those with a folder, in alternation. */

export interface DatabaseOptions {
  seconds: number;
  connections: number;
}

const ROUNDS = 3;
const REQUESTS_PER_SECOND = 25_000;
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
  const cluster = await Cluster.create();
  if (!cluster) throw new Error('there are no programs of PostgreSQL for this machine: install it, with initdb on the PATH');
  try {
    await cluster.start({ fsync: 'on', shared_buffers: '256MB' });
    const rows: string[][] = [];
    for (const [name, trial] of Object.entries<Trial>({ ended: trials.ended, recording: trials.recording })) {
      printStep(`${name}, with a folder and with PostgreSQL: ${trial.about}`);
      rows.push([name, ...(await compared(trial, cluster, await createDatabase(cluster.url, `bench_${name}`), options))]);
    }
    const legend =
      `Each of three rounds loads both servers for a third of ${options.seconds} s over ${options.connections} connections, one after the other, with prepared ` +
      'requests (wrk, or raw sockets of Node). Both flush what they acknowledge to the same disk; PostgreSQL runs on the same cores, with ' +
      'its default settings but for 256 MB of shared buffers. ratio: of the requests per second, in the median round; rounds: the lowest and the highest. CPU us: processor ' +
      'time for a request, all threads and the kernel, with that of PostgreSQL. void: the generator was the limit.';
    return [{ title: 'A database beside a folder', head: [...head, ...costs], rows, legend }];
  } finally {
    await cluster.stop();
  }
}

interface Side extends SideResult {
  /** Of PostgreSQL. */
  database: Cpu;
}

async function compared(trial: Trial, cluster: Cluster, url: string, { seconds, connections }: DatabaseOptions): Promise<string[]> {
  const generator: Generator = new Worker(generators[findInstalled().wrk ? 'wrk' : 'sockets']);
  const nodeArgs = trial.stopsClock ? ['--import', new URL('./load/still-clock.js', import.meta.url).href] : [];
  const dataDir = temporaryFolder();
  const servers: Server[] = [];
  try {
    const load = async (database?: string) => {
      const server = await startServer({ nodeArgs, ...(database === undefined ? { dataDir } : { database }) });
      servers.push(server);
      const bodies = await trial.setUp(server, (1 + ROUNDS) * Math.ceil(seconds / ROUNDS) * REQUESTS_PER_SECOND);
      let from = 0;
      return async (duration: number): Promise<Side> => {
        const [before, databaseBefore] = [readCpu(server.pid), cpuOf(cluster)];
        const { path, status, expected } = trial;
        const plan = { url: server.url + path, bodies, expected, headers, from, seconds: duration, connections, status };
        const outcome = await generator.ask(plan);
        if (outcome.failures > 0) throw new Error(`${outcome.failures} requests of the trial ${trial.about} failed`);
        from = outcome.next;
        return { ...outcome, server: cpuBetween(before, readCpu(server.pid)), database: cpuBetween(databaseBefore, cpuOf(cluster)) };
      };
    };
    const [folder, database] = [await load(), await load(url)];
    for (const side of [folder, database]) await side(1);
    const rounds: { folder: Side; database: Side; ratio: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const sides = { folder: await folder(seconds / ROUNDS), database: await database(seconds / ROUNDS) };
      rounds.push({ ...sides, ratio: ratioOf(sides.database, sides.folder) });
    }
    return cellsOf(rounds.sort((a, b) => a.ratio - b.ratio));
  } finally {
    await Promise.all([...servers.map(server => server.stop()), generator.stop()]);
    removeFolder(dataDir);
  }
}

/** @param rounds by their ratio */
function cellsOf(rounds: readonly { folder: Side; database: Side; ratio: number }[]): string[] {
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
