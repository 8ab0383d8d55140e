import { readFileSync } from 'node:fs';
import { headers } from '../test/testbed/client.js';
import { type Cluster, createDatabase, dropDatabase, startCluster } from '../test/testbed/postgresql.js';
import { printStep } from '../test/testbed/progress.js';
import { type Server, startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import type { Generator } from './load/compare.js';
import { type Cpu, cpuBetween, cpuSum, readCpu } from './load/cpu.js';
import { generators as generatorFiles } from './load/generators.js';
import { NODES } from './load/messages.js';
import { answersPerSecond, bottleneckOf, cpuMicroseconds, isVoid, ratioOf, type SideResult } from './load/side.js';
import { type Trial, trials } from './load/trials.js';
import type { Result } from './results.js';

/**
 * Pulls and recordings with the store in PostgreSQL on this machine: beside those with a folder, in alternation, and with several processes on
 * one database.
 */

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
const headOfProcesses = [
  ...['trial', 'processes', 'builds', 'req/s', 'rounds', 'p50 ms', 'p99 ms', 'CPU us', 'main thread us', 'PostgreSQL us'],
  ...['processes on cores of their own req/s', 'PostgreSQL req/s a core'],
];
/** Processes on one database, and the builds of each: others share no build with it, or each build has nodes at all of them. */
const SEVERAL = [
  [1, 'own'],
  [2, 'own'],
  [4, 'own'],
  [2, 'shared'],
  [4, 'shared'],
] as const;
type Several = (typeof SEVERAL)[number];
/** Rounds between the builds of two processes. */
const ROUNDS_APART = 100_000;

export async function database(options: DatabaseOptions): Promise<Result[]> {
  const cluster = await startCluster({ fsync: 'on', shared_buffers: '256MB' });
  if (!cluster) throw new Error('there are no programs of PostgreSQL for this machine: install it, with initdb on the PATH');
  try {
    const rows: string[][] = [];
    const severalRows: string[][] = [];
    for (const [name, trial] of Object.entries<Trial>({ pulls: trials.pulls, recording: trials.recording })) {
      printStep(`${name}, with a folder and with PostgreSQL: ${trial.about}`);
      rows.push([name, ...(await compared(trial, cluster, options))]);
      for (const each of SEVERAL) {
        const [processes, builds] = each;
        printStep(`${name}, ${processes} processes on one PostgreSQL, builds: ${builds}`);
        severalRows.push([name, String(processes), builds, ...(await several(trial, cluster, options, each))]);
      }
    }
    const { answers, connections } = options;
    const load =
      `${answers} answers over ${connections} connections in each of three rounds, with prepared requests over raw sockets of Node. ` +
      'PostgreSQL runs on the same cores, with its default settings but for 256 MB of shared buffers';
    const legend =
      `${load}, and one server after the other; both flush what they acknowledge to the same disk. ratio: of the requests per second, in the ` +
      'median round; rounds: the lowest and the highest. CPU us: processor time for a request, all threads and the kernel, with that of PostgreSQL. ' +
      'void: the generator was the limit.';
    const legendOfProcesses =
      `${load}. Each process has its own generator, on the same cores too. builds: own, where no other process has to do with a build, but ` +
      'all builds are of one project, so that processes that create builds at the same moment wait for each other; shared, where each process has ' +
      'a part of the nodes of every build, so that it reads each queue again before most of its pulls. p50, p99: of the slowest process. CPU us: ' +
      'processor time of the processes for a request, all threads and the kernel; main thread us: the part of it that one core has to do; PostgreSQL ' +
      'us: beside it. What other machines would give follows from these: requests per second of so many main threads that never wait for a core, and ' +
      'of each core that PostgreSQL has. The lower one is the limit.';
    return [
      { title: 'A database beside a folder', head: [...head, ...costs], rows, legend },
      { title: 'Several processes on one database', head: headOfProcesses, rows: severalRows, legend: legendOfProcesses },
    ];
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
    const database = await onNewDatabase(cluster, url => load(trial, cluster, url, options));
    rounds.push({ folder, database, ratio: ratioOf(database, folder) });
  }
  return cellsOf(rounds.sort((a, b) => a.ratio - b.ratio));
}

/** Measures several processes on one database in rounds, each with new ones. */
async function several(trial: Trial, cluster: Cluster, options: DatabaseOptions, each: Several): Promise<string[]> {
  const rounds: Side[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await onNewDatabase(cluster, url => load(trial, cluster, url, options, each)));
  rounds.sort((a, b) => answersPerSecond(a) - answersPerSecond(b));
  const side = rounds[ROUNDS >> 1]!;
  const mainMicroseconds = (1e6 * side.server.main) / side.answers;
  const ofPostgresql = postgresqlMicroseconds(side);
  return [
    answersPerSecond(side).toFixed(0),
    `${answersPerSecond(rounds[0]!).toFixed(0)} - ${answersPerSecond(rounds.at(-1)!).toFixed(0)}`,
    side.p50Milliseconds.toFixed(2),
    side.p99Milliseconds.toFixed(2),
    cpuMicroseconds(side).toFixed(1),
    mainMicroseconds.toFixed(1),
    ofPostgresql.toFixed(1),
    ((1e6 * each[0]) / mainMicroseconds).toFixed(0),
    (1e6 / ofPostgresql).toFixed(0),
  ];
}

async function onNewDatabase(cluster: Cluster, measure: (url: string) => Promise<Side>): Promise<Side> {
  const name = `bench_${databases++}`;
  const side = await measure(await createDatabase(cluster.url, name));
  await dropDatabase(cluster.url, name);
  return side;
}

/** @param url of the database; undefined: the only process has a folder */
async function load(
  trial: Trial,
  cluster: Cluster,
  url: string | undefined,
  { answers, connections, cpuProf }: DatabaseOptions,
  [processes, builds]: Several = [1, 'own'],
): Promise<Side> {
  const servers: Server[] = [];
  const generators: Generator[] = [];
  try {
    for (let i = 0; i < processes; i++) {
      servers.push(await startServer({ cpuProf, ...(url === undefined ? {} : { database: url }) }));
      generators.push(new Worker(generatorFiles.sockets));
    }
    const bodies = await trial.setUp(servers[0]!, 2 * answers);
    const { path, status, expected } = trial;
    const plans = servers.map((server, i) => ({
      ...{ url: server.url + path, expected, headers, seconds: 60, status, connections: Math.ceil(connections / processes) },
      bodies: bodiesOf(bodies, i, processes, builds),
    }));
    const run = async (amount: number, from: number[]) => {
      const outcomes = await Promise.all(
        plans.map((plan, i) => generators[i]!.ask({ ...plan, from: from[i]!, amount: Math.ceil(amount / processes) })),
      );
      const failures = outcomes.reduce((sum, each) => sum + each.failures, 0);
      if (failures > 0) throw new Error(`${failures} requests of the trial ${trial.about} failed`);
      return outcomes;
    };
    const warm = await run(
      answers / 4,
      // Nodes of a build at two processes do not send their requests at the same moment.
      plans.map(({ bodies: { length } }, i) => (builds === 'own' ? i * ROUNDS_APART * length : Math.floor((i * length) / processes))),
    );
    const read = () => [cpuSum(servers.map(({ pid }) => readCpu(pid))), cpuOf(cluster)] as const;
    const before = read();
    const outcomes = await run(
      answers,
      warm.map(({ next }) => next),
    );
    const after = read();
    return {
      ...outcomes[0]!,
      cpu: cpuSum(outcomes.map(({ cpu }) => cpu)),
      answers: outcomes.reduce((sum, each) => sum + each.answers, 0),
      seconds: Math.max(...outcomes.map(({ seconds }) => seconds)),
      p50Milliseconds: Math.max(...outcomes.map(({ p50Milliseconds }) => p50Milliseconds)),
      p99Milliseconds: Math.max(...outcomes.map(({ p99Milliseconds }) => p99Milliseconds)),
      server: cpuBetween(before[0], after[0]),
      database: cpuBetween(before[1], after[1]),
    };
  } finally {
    await Promise.all([...servers, ...generators].map(each => each.stop()));
  }
}

/** The part of the bodies, which are those of the first node of each build, then of the second one, that a process gets. */
function bodiesOf(bodies: readonly string[], process: number, processes: number, builds: Several[1]): string[] {
  if (builds === 'shared') return bodies.slice((process * bodies.length) / processes, ((process + 1) * bodies.length) / processes);
  const buildCount = bodies.length / NODES;
  // The builds of some trials are told apart by the round only.
  return buildCount < processes ? [...bodies] : bodies.filter((_, at) => (at % buildCount) % processes === process);
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
  const ofPostgresql = postgresqlMicroseconds(database);
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

function postgresqlMicroseconds({ database, answers }: Side): number {
  return (1e6 * database.all) / answers;
}

/** The processor time of the processes of a cluster: one for each connection, and those that write. */
function cpuOf({ pid }: Cluster): Cpu {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return cpuSum(children.map(child => readCpu(Number(child))));
}
