import { headers } from '../../test/testbed/client.js';
import type { Server } from '../../test/testbed/server.js';
import type { Worker } from '../../test/testbed/worker.js';
import type { BareAnswer, BareServer } from './bare-server.js';
import { cpuBetween, readCpu } from './cpu.js';
import type { Load, Outcome } from './load.js';
import { longTestPath } from './messages.js';
import type { Redis } from './redis.js';
import { ratioOf, type SideResult } from './side.js';
import type { Trial } from './trials.js';

export type Bare = Worker<BareAnswer, BareServer>;
export type Generator = Worker<Load, Outcome>;

/** Tests in a queue of the peer. */
const TESTS = Array.from({ length: 1000 }, (_, file) => longTestPath(file));

export interface Comparison {
  ours: SideResult;
  bare: SideResult;
  /** Another program that does the same work; null: there is none. */
  peer: SideResult | null;
  /** The ratio of our answers per second to those of the bare handler in each round, ascending. */
  ratios: number[];
  /** Our processor seconds per answer in each round, ascending. */
  costs: number[];
}

export interface CompareOptions {
  /** Duration of the load on each of the servers, over all rounds. */
  seconds: number;
  /** Answers in a round. Replaces `seconds`. */
  amount?: number;
  connections: number;
}

export interface Sides {
  server: Server;
  bare: Bare;
  generator: Generator;
  peer?: Redis | null;
}

/** Other programs disturb a round, so the round with the median ratio counts. */
const ROUNDS = 3;
/** More than a server can answer of what its state limits. */
const REQUESTS_PER_SECOND = 40_000;

/** Runs a trial on the server, on the bare handler and on the peer, in alternation and with the same generator. */
export async function compare(
  trial: Trial,
  { seconds, amount, connections }: CompareOptions,
  { server, bare, generator, peer }: Sides,
): Promise<Comparison> {
  const warmUp = Math.min(1, seconds / ROUNDS);
  const wholeSeconds = Math.ceil(warmUp) + ROUNDS * Math.ceil(seconds / ROUNDS);
  const requests = amount ? amount * (ROUNDS + 1) : wholeSeconds * REQUESTS_PER_SECOND;
  const bodies = await trial.setUp(server, requests);
  const pops = peer ? peer.fill(Math.ceil(requests / TESTS.length), TESTS) : [];
  const { status } = trial;
  let from = 0;
  const run = async (pid: number, load: Pick<Load, 'url' | 'bodies' | 'expected'>, duration: number): Promise<SideResult> => {
    const before = readCpu(pid);
    const outcome = await generator.ask({ ...load, headers, from, seconds: duration, connections, status, ...(amount && { amount }) });
    from = outcome.next;
    return { ...outcome, server: cpuBetween(before, readCpu(pid)) };
  };
  const ours = (duration: number) => run(server.pid, { url: server.url + trial.path, bodies, expected: trial.expected }, duration);
  const theirs = async (duration: number) =>
    peer && (await run(peer.pid, { url: peer.url, bodies: pops, expected: TESTS[0]!.slice(0, 4) }, duration));

  const { meanAnswerBytes } = await ours(warmUp);
  const { url: bareUrl } = await bare.ask({ status, bytes: meanAnswerBytes });
  const baseline = (duration: number) => run(bare.pid, { url: bareUrl + trial.path, bodies, expected: null }, duration);
  await baseline(warmUp);
  await theirs(warmUp);

  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const sides = {
      ours: await ours(seconds / ROUNDS),
      bare: await baseline(seconds / ROUNDS),
      peer: (await theirs(seconds / ROUNDS)) ?? null,
    };
    rounds.push({ ...sides, ratio: ratioOf(sides.ours, sides.bare) });
  }
  rounds.sort((a, b) => a.ratio - b.ratio);
  const ascending = (values: number[]) => values.sort((a, b) => a - b);
  return {
    ...rounds[ROUNDS >> 1]!,
    ratios: rounds.map(({ ratio }) => ratio),
    costs: ascending(rounds.map(({ ours }) => ours.server.all / ours.answers)),
  };
}
