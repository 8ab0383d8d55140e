import { median } from '../../src/plan/times/median.js';
import { tell } from '../progress.js';
import type { Load, Outcome } from '../requests/generator.js';
import { headers, Helper, type Server, startServer } from '../requests/processes.js';
import type { Result } from '../results.js';
import type { SeededFolders } from './seeded-folders.js';

/** Whether lists of builds get slower with the number of builds. */

export interface ListingExtent {
  builds: number;
  /** The others, that they are compared to. */
  fewBuilds?: number;
  /** Of load on each of the two servers, for each kind of request. */
  seconds: number;
  /** Answers in a round; it then takes the time it takes. */
  amount?: number;
}

const ROUNDS = 3;
const CONNECTIONS = 4;
const PER_PAGE = 100;

const head = ['GET /v1/builds', 'req/s', 'p50 ms', 'p99 ms', 'of few: req/s', 'p50 ms', 'p99 ms', 'ratio of req/s', 'rounds'];

type Generator = Helper<Load, Outcome>;
type Listed = { id: string; commit_hash: string };

export async function listing({ builds, fewBuilds = 1000, ...load }: ListingExtent, seeds: SeededFolders): Promise<Result[]> {
  const folders = [await seeds.grown(builds), await seeds.grown(fewBuilds)];
  const generator: Generator = new Helper('requests/generator.js');
  const servers: Server[] = [];
  try {
    for (const dataDir of folders) servers.push(await startServer({ dataDir }));
    const rows: string[][] = [];
    const kinds = await Promise.all(servers.map((server, i) => kindsOf(server, [builds, fewBuilds][i]!)));
    for (const name of Object.keys(kinds[0]!)) {
      tell(`listing: ${name}`);
      const loads = servers.map(({ url }, i) => ({ url, ...kinds[i]![name]! }));
      rows.push([name, ...(await compared(generator, loads, load))]);
    }
    const legend =
      `${builds} builds (half of them on one of 1,001 branches, 2 of each commit) against ${fewBuilds}: two servers, loaded in turn over ` +
      `${CONNECTIONS} connections, by one generator. Full pages have ${PER_PAGE} builds. rounds: ratio of each of ${ROUNDS}; the median counts.`;
    return [{ title: 'Listing', head, rows, legend }];
  } finally {
    await Promise.all([generator.stop(), ...servers.map(server => server.stop())]);
  }
}

/** The paths to ask for in turn, and what is in each right answer. */
type Kind = Pick<Load, 'paths' | 'expected'>;

async function kindsOf(server: Server, builds: number): Promise<Record<string, Kind>> {
  const pages = Math.ceil(builds / PER_PAGE);
  const spread = [...new Set([1, 0.25, 0.5, 0.75].map(part => Math.ceil(pages * part)))];
  const some: Listed[] = [];
  for (const page of spread) some.push(...((await server.get(`/v1/builds?page=${page}`)) as { data: Listed[] }).data);
  const list = (...queries: string[]) => ({ paths: queries.map(query => `/v1/builds?${query}`), expected: '"data":[{' });
  return {
    'first page': list('page=1'),
    'of a branch': list('branch=main'),
    'of a commit': list(...some.map(({ commit_hash }) => `commit_hash=${commit_hash}`)),
    'of a number of nodes': list('node_total=8'),
    'middle page': list(`page=${Math.ceil(pages / 2)}`),
    'last page': list(`page=${pages}`),
    'one build by its id': { paths: some.map(({ id }) => `/v1/builds/${id}`), expected: '"test_files":[{' },
  };
}

/** The load on many and on few. */
async function compared(
  generator: Generator,
  loads: (Kind & { url: string })[],
  { seconds: all, amount }: Pick<ListingExtent, 'seconds' | 'amount'>,
): Promise<string[]> {
  const fixed = { headers, bodies: [], from: 0, connections: CONNECTIONS, status: 200, ...(amount && { amount }) };
  const run = async (load: Kind & { url: string }, seconds: number) => {
    const outcome = await generator.ask({ ...load, ...fixed, seconds });
    if (outcome.failures > 0) throw new Error(`${outcome.failures} requests for ${load.paths![0]} failed`);
    return outcome;
  };
  for (const load of loads) await run(load, all / ROUNDS / 2);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [many, few] = [await run(loads[0]!, all / ROUNDS), await run(loads[1]!, all / ROUNDS)];
    rounds.push({ many, few, ratio: rateOf(many) / rateOf(few) });
  }
  rounds.sort((a, b) => a.ratio - b.ratio);
  const { many, few } = rounds[ROUNDS >> 1]!;
  const ratios = rounds.map(({ ratio }) => ratio);
  return [...shownOf(many), ...shownOf(few), median(ratios).toFixed(2), ratios.map(ratio => ratio.toFixed(2)).join(' - ')];
}

function rateOf({ answers, seconds }: Outcome): number {
  return answers / seconds;
}

function shownOf(outcome: Outcome): string[] {
  return [rateOf(outcome).toFixed(0), outcome.p50Milliseconds.toFixed(2), outcome.p99Milliseconds.toFixed(2)];
}
