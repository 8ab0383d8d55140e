import type { BareAnswer, BareServer } from './bare-server.js';
import { type Cpu, cpuBetween, readCpu } from './cpu.js';
import type { Load, Outcome } from './load.js';
import { longTestPath } from './messages.js';
import type { Redis } from './redis.js';
import { headers, type Server } from './server.js';
import type { Trial } from './trials.js';
import type { Worker } from './worker.js';

export type Bare = Worker<BareAnswer, BareServer>;
export type Generator = Worker<Load, Outcome>;

/** What a queue of the peer has. */
const TESTS = Array.from({ length: 1000 }, (_, file) => longTestPath(file));

/** The result of a load on one server: answers and processor time. */
export interface SideResult extends Outcome {
  server: Cpu;
  generator: Cpu;
}

export interface Comparison {
  ours: SideResult;
  bare: SideResult;
  /** Another program that does the same work; null: there is none. */
  peer: SideResult | null;
  /** The lowest and the highest ratio of our answers per second to those of the bare handler, over all rounds. */
  ratios: [number, number];
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
const REQUESTS_PER_SECOND = 30_000;
/** A generator that takes more of a core is the limit of what it measures. */
const MOST_OF_CORE = 0.9;

/** Runs a trial on the server, on the bare handler and on the peer, in alternation and with the same generator. */
export async function compare(
  trial: Trial,
  { seconds, amount, connections }: CompareOptions,
  { server, bare, generator, peer }: Sides,
): Promise<Comparison> {
  const warmUp = Math.min(1, seconds / ROUNDS);
  const requests = amount ? amount * (ROUNDS + 1) : (seconds + warmUp) * REQUESTS_PER_SECOND;
  const bodies = await trial.setUp(server, requests);
  const pops = peer ? await peer.fill(Math.ceil(requests / TESTS.length), TESTS) : [];
  const { status } = trial;
  let from = 0;
  const run = async (pid: number, load: Pick<Load, 'url' | 'bodies' | 'expected'>, duration: number): Promise<SideResult> => {
    const before = [readCpu(pid), readCpu(generator.pid)] as const;
    const outcome = await generator.ask({ ...load, headers, from, seconds: duration, connections, status, ...(amount && { amount }) });
    from = outcome.next;
    return { ...outcome, server: cpuBetween(before[0], readCpu(pid)), generator: cpuBetween(before[1], readCpu(generator.pid)) };
  };
  const ours = (duration: number) => run(server.pid, { url: server.url + trial.path, bodies, expected: trial.expected }, duration);
  const theirs = async (duration: number) =>
    peer && (await run(peer.pid, { url: peer.url, bodies: pops, expected: TESTS[0]!.slice(0, 4) }, duration));

  const { meanAnswerBytes } = await ours(warmUp);
  const { url: bareUrl } = await bare.ask({ status, bytes: meanAnswerBytes });
  const baseline = (duration: number) => run(bare.pid, { url: bareUrl + trial.path, bodies, expected: '' }, duration);
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
  return { ...rounds[ROUNDS >> 1]!, ratios: [rounds[0]!.ratio, rounds.at(-1)!.ratio] };
}

/** Answers per second. */
export function answersPerSecond({ answers, seconds }: Outcome): number {
  return answers / seconds;
}

/** Answers per second of a side over those of another. */
export function ratioOf(side: SideResult, other: SideResult): number {
  return answersPerSecond(side) / answersPerSecond(other);
}

/** Whether the generator was the limit, so that the answers per second say nothing about the server. */
export function isVoid({ generator, seconds }: SideResult): boolean {
  return demandOf(generator, seconds) > MOST_OF_CORE;
}

/** The busier main thread: the share of the time in which it ran, and in which it would have run with a core to itself. */
export function bottleneckOf({ server, generator, seconds }: SideResult): string {
  const [serverDemand, generatorDemand] = [demandOf(server, seconds), demandOf(generator, seconds)];
  const [name, cpu] = serverDemand > generatorDemand ? ['server', server] : ['generator', generator];
  if (cpu.main === 0) return 'unknown';
  const percent = (share: number) => Math.round(100 * share);
  const busiest = `${name} ${percent(cpu.main / seconds)}/${percent(demandOf(cpu, seconds))} %`;
  return Math.max(serverDemand, generatorDemand) < 0.8 ? `waiting, ${busiest}` : busiest;
}

function demandOf({ main, starved }: Cpu, seconds: number): number {
  return Math.min(1, (main + starved) / seconds);
}
