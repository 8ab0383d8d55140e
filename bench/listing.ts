import { cpuBetween, readCpu } from './load/cpu.js';
import type { Load, Outcome } from './load/load.js';
import type { SeededFolders } from './load/seeded-folders.js';
import { headers, type Server, startServer } from './load/server.js';
import { answersPerSecond, bottleneckOf, ratioCell, ratioOf, type SideResult } from './load/side.js';
import { Worker } from './load/worker.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** Whether lists of builds slow down as builds accumulate. */

export interface ListingOptions {
  builds: number;
  /** Number of builds on the server to compare with. */
  fewBuilds?: number;
  /** Duration of the load on each of the two servers, for each kind of request. */
  seconds: number;
  /** Answers in a round. Replaces `seconds`. */
  amount?: number;
}

const ROUNDS = 3;
const CONNECTIONS = 4;
const PER_PAGE = 100;

const measured = ['req/s', 'p50 ms', 'p99 ms', 'limit'];
const head = ['GET /v1/builds', ...measured, ...measured.map(name => `few: ${name}`), 'ratio of req/s', 'rounds'];

type Generator = Worker<Load, Outcome>;
type Listed = { id: string; commit_hash: string };

export async function listing({ builds, fewBuilds = 1000, ...load }: ListingOptions, seeds: SeededFolders): Promise<Result[]> {
  const folders = [await seeds.withBuilds(builds), await seeds.withBuilds(fewBuilds)];
  const generator: Generator = new Worker('bench/load/autocannon-generator.js');
  const servers: Server[] = [];
  try {
    for (const dataDir of folders) servers.push(await startServer({ dataDir }));
    const rows: string[][] = [];
    const kinds = await Promise.all(servers.map((server, i) => kindsOf(server, [builds, fewBuilds][i]!)));
    for (const name of Object.keys(kinds[0]!)) {
      printStep(`listing: ${name}`);
      const loads = servers.map((server, i) => ({ server, ...kinds[i]![name]! }));
      rows.push([name, ...(await compareLists(generator, loads, load))]);
    }
    const legend =
      `${builds} builds (half of them on main, the others on 1,000 branches; 2 of each commit) compared with ${fewBuilds}: two servers, loaded alternately ` +
      `over ${CONNECTIONS} connections by one generator. A full page has ${PER_PAGE} builds. limit: the busier main thread, with ` +
      `the share of the time in which it ran / would have run with a core to itself. ratio: median of ${ROUNDS} rounds; void: the generator, autocannon, was the limit.`;
    return [{ title: 'Listing', head, rows, legend }];
  } finally {
    await Promise.all([generator.stop(), ...servers.map(server => server.stop())]);
  }
}

/** Paths to request in rotation, and a part of every correct answer. */
type Kind = Pick<Load, 'paths' | 'expected'>;

async function kindsOf(server: Server, builds: number): Promise<Record<string, Kind>> {
  const pages = Math.ceil(builds / PER_PAGE);
  const spread = [...new Set([1, 0.25, 0.5, 0.75].map(part => Math.ceil(pages * part)))];
  const sample: Listed[] = [];
  for (const page of spread) sample.push(...((await server.get(`/v1/builds?page=${page}`)) as { data: Listed[] }).data);
  const list = (...queries: string[]) => ({ paths: queries.map(query => `/v1/builds?${query}`), expected: '"data":[{' });
  return {
    'first page': list('page=1'),
    'by branch': list('branch=main'),
    'by commit': list(...sample.map(({ commit_hash }) => `commit_hash=${commit_hash}`)),
    'by number of nodes': list('node_total=8'),
    'middle page': list(`page=${Math.ceil(pages / 2)}`),
    'last page': list(`page=${pages}`),
    'one build by id': { paths: sample.map(({ id }) => `/v1/builds/${id}`), expected: '"test_files":[{' },
  };
}

type OneLoad = Kind & { server: Server };

/** Compares the load on many builds with the load on few. */
async function compareLists(
  generator: Generator,
  loads: OneLoad[],
  { seconds: totalSeconds, amount }: Pick<ListingOptions, 'seconds' | 'amount'>,
): Promise<string[]> {
  const fixed = { headers, bodies: [], from: 0, connections: CONNECTIONS, status: 200, ...(amount && { amount }) };
  const run = async ({ server: { url, pid }, ...load }: OneLoad, seconds: number): Promise<SideResult> => {
    const before = readCpu(pid);
    const outcome = await generator.ask({ ...load, ...fixed, url, seconds });
    if (outcome.failures > 0) throw new Error(`${outcome.failures} requests for ${load.paths![0]} failed`);
    return { ...outcome, server: cpuBetween(before, readCpu(pid)) };
  };
  for (const load of loads) await run(load, totalSeconds / ROUNDS / 2);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [many, few] = [await run(loads[0]!, totalSeconds / ROUNDS), await run(loads[1]!, totalSeconds / ROUNDS)];
    rounds.push({ many, few, ratio: ratioOf(many, few) });
  }
  rounds.sort((a, b) => a.ratio - b.ratio);
  const { many, few } = rounds[ROUNDS >> 1]!;
  return [...sideCells(many), ...sideCells(few), ratioCell(many, few), rounds.map(({ ratio }) => ratio.toFixed(2)).join(' - ')];
}

function sideCells(side: SideResult): string[] {
  return [answersPerSecond(side).toFixed(0), side.p50Milliseconds.toFixed(2), side.p99Milliseconds.toFixed(2), bottleneckOf(side)];
}
