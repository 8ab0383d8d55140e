import type { BareAnswer, BareServer } from './bare-server.js';
import { type Cpu, cpuBetween, readCpu } from './cpu.js';
import type { Load, Outcome } from './generator.js';
import { headers, type Server } from './server.js';
import type { Trial } from './trials.js';
import type { Worker } from './worker.js';

export type Bare = Worker<BareAnswer, BareServer>;
export type Generator = Worker<Load, Outcome>;

/** The result of a trial on one server: answers and processor time. */
export interface SideResult extends Outcome {
  server: Cpu;
  generator: Cpu;
}

export interface Comparison {
  ours: SideResult;
  bare: SideResult;
  ratio: number;
  /** The lowest and the highest ratio of all rounds. */
  ratios: [number, number];
}

export interface CompareOptions {
  /** Duration of the load on each of the two servers, over all rounds. */
  seconds: number;
  /** Answers in a round. Replaces `seconds`. */
  amount?: number;
  connections: number;
}

/** Other programs disturb a round, so the round with the median ratio counts. */
const ROUNDS = 3;
/** More than the generator can send. */
const REQUESTS_PER_SECOND = 30_000;

/** Runs a trial on the server and on the bare handler, in alternation and with the same generator. */
export async function compare(
  trial: Trial,
  { seconds, amount, connections }: CompareOptions,
  { server, bare, generator }: { server: Server; bare: Bare; generator: Generator },
): Promise<Comparison> {
  const warmUp = Math.min(1, seconds / ROUNDS);
  const bodies = await trial.setUp(server, amount ? amount * (ROUNDS + 1) : (seconds + warmUp) * REQUESTS_PER_SECOND);
  const { status } = trial;
  let from = 0;
  const run = async (url: string, pid: number, expected: string, duration: number): Promise<SideResult> => {
    const before = [readCpu(pid), readCpu(generator.pid)] as const;
    const limits = { seconds: duration, connections, ...(amount && { amount }) };
    const outcome = await generator.ask({ url: url + trial.path, headers, bodies, from, ...limits, status, expected });
    from = outcome.next;
    return { ...outcome, server: cpuBetween(before[0], readCpu(pid)), generator: cpuBetween(before[1], readCpu(generator.pid)) };
  };
  const ours = (duration: number) => run(server.url, server.pid, trial.expected, duration);

  const { meanAnswerBytes } = await ours(warmUp);
  const { url: bareUrl } = await bare.ask({ status, bytes: meanAnswerBytes });
  const baseline = (duration: number) => run(bareUrl, bare.pid, '', duration);
  await baseline(warmUp);

  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const pair = { ours: await ours(seconds / ROUNDS), bare: await baseline(seconds / ROUNDS) };
    rounds.push({ ...pair, ratio: answersPerSecond(pair.ours) / answersPerSecond(pair.bare) });
  }
  rounds.sort((a, b) => a.ratio - b.ratio);
  return { ...rounds[ROUNDS >> 1]!, ratios: [rounds[0]!.ratio, rounds.at(-1)!.ratio] };
}

/** Answers per second. */
export function answersPerSecond({ answers, seconds }: Outcome): number {
  return answers / seconds;
}

/** The busier main thread: the share of the time in which it ran, and in which it would have run with a core to itself. */
export function bottleneckOf({ server, generator, seconds }: SideResult): string {
  const demand = ({ main, starved }: Cpu) => Math.min(1, (main + starved) / seconds);
  const [name, cpu] = demand(server) > demand(generator) ? ['server', server] : ['generator', generator];
  if (cpu.main === 0) return 'unknown';
  const percent = (share: number) => Math.round(100 * share);
  const busiest = `${name} ${percent(cpu.main / seconds)}/${percent(demand(cpu))} %`;
  return demand(cpu) < 0.8 ? `waiting, ${busiest}` : busiest;
}
