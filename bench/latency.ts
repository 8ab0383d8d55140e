import { headers } from '../test/testbed/client.js';
import { printStep } from '../test/testbed/progress.js';
import { startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import type { RateLoad, RateOutcome } from './load/autocannon-generator.js';
import { chosenOf } from './load/chosen.js';
import type { Bare } from './load/compare.js';
import { generators } from './load/generators.js';
import { busyCell } from './load/side.js';
import { type Trial, trials } from './load/trials.js';
import type { Result } from './results.js';

/** Latencies of requests at a fixed rate, beside requests to a bare handler at the same rate. */

export interface LatencyOptions {
  /** Duration of the load at each rate on each of the servers, over all rounds. */
  seconds: number;
  rates?: readonly number[];
}

/** Other programs disturb a round, so the round with the median p99 counts. */
const ROUNDS = 3;
/** A rate is void if less of it was sent and answered. */
const LEAST_OF_RATE = 0.98;
const WARM_UP_SECONDS = 1;
/** For how long a generator sends besides the time that counts. */
const FURTHER_SECONDS = 2;

const requests: Readonly<Record<string, Trial>> = { pulls: trials.pulls, splits: trials.splits, recording: trials.recording };

const head = ['request', 'req/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'p99 of rounds', 'bare p50 ms', 'bare p99 ms', 'bare p99.9 ms'];
const checks = ['answered/s', 'bare answered/s', 'generator %', 'bare generator %'];

/** Measures the chosen requests (default: all), each on a fresh server. Throws if a request failed. */
export async function latency(chosen: readonly string[], { seconds, rates = [500, 2000, 5000] }: LatencyOptions): Promise<Result[]> {
  const bare: Bare = new Worker('bench/load/bare-server.js');
  try {
    const { name: bareName } = await bare.ask({ status: 200, bytes: 1 });
    const rows: string[][] = [];
    for (const [name, trial] of chosenOf('request', chosen, requests)) {
      printStep(`${name}: ${trial.about}`);
      const measured = await measure(trial, rates, seconds, bare);
      rows.push(...measured.map(({ rate, rounds }) => [name, String(rate), ...latencyCells(rate, rounds)]));
    }
    const legend =
      `At a fixed rate, ${seconds} s on each of the servers in three rounds, in alternation; of them the one with the median p99, and the lowest and ` +
      `the highest p99. bare: a handler of ${bareName} that reads and sends as many bytes and does nothing else. The load comes from autocannon, over a connection for ` +
      'each request of a second, at most 1,000. Each connection has a second of its own, and sends its first request when that begins, even if the ' +
      'server is slow; the percentiles are those of these requests. A connection sends the others of a second (1 at 2,000, 4 at 5,000) one after ' +
      'another. answered: requests per second that were sent and answered, void below 98 %. generator %: the share of the time in which its main ' +
      'thread ran / would have run with a core to itself.';
    return [{ title: 'Latency', head: [...head, ...checks], rows, legend }];
  } finally {
    await bare.stop();
  }
}

/** The outcomes of both sides in a round. */
export interface LatencyRound {
  ours: RateOutcome;
  bare: RateOutcome;
}

/** Loads a fresh server and the bare handler in alternation, at one rate after another. */
async function measure(trial: Trial, rates: readonly number[], seconds: number, bare: Bare) {
  const { about, path, status, expected } = trial;
  const generator = new Worker<RateLoad, RateOutcome>(generators.autocannon);
  const server = await startServer();
  try {
    const [fastest, all] = [Math.max(...rates), rates.reduce((sum, rate) => sum + rate, 0)];
    const requests = fastest * (WARM_UP_SECONDS + FURTHER_SECONDS) + all * (seconds + ROUNDS * FURTHER_SECONDS);
    const bodies = await trial.setUp(server, requests);
    let from = 0;
    const load = async (side: Pick<RateLoad, 'url' | 'expected'>, rate: number, duration: number) => {
      const outcome = await generator.ask({ ...side, headers, bodies, from, seconds: duration, rate, status });
      if (outcome.failures > 0) throw new Error(`${outcome.failures} requests of the trial ${about} failed`);
      from = outcome.next;
      return outcome;
    };
    const ours = { url: server.url + path, expected };
    const { meanAnswerBytes } = await load(ours, fastest, WARM_UP_SECONDS);
    const { url } = await bare.ask({ status, bytes: meanAnswerBytes });
    const baseline = { url: url + path, expected: null };
    const measured: { rate: number; rounds: LatencyRound[] }[] = [];
    for (const rate of rates) {
      const rounds: LatencyRound[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        rounds.push({ ours: await load(ours, rate, seconds / ROUNDS), bare: await load(baseline, rate, seconds / ROUNDS) });
      }
      measured.push({ rate, rounds });
    }
    return measured;
  } finally {
    await Promise.all([server.stop(), generator.stop()]);
  }
}

/** The cells of a rate: the latencies of the round with the median p99, and whether the rate was kept. */
export function latencyCells(rate: number, rounds: readonly LatencyRound[]): string[] {
  const sorted = rounds.toSorted((a, b) => a.ours.p99Milliseconds - b.ours.p99Milliseconds);
  const { ours, bare } = sorted[sorted.length >> 1]!;
  const latencies = ({ p50Milliseconds, p99Milliseconds, p999Milliseconds }: RateOutcome) =>
    [p50Milliseconds, p99Milliseconds, p999Milliseconds].map(ms => ms.toFixed(2));
  const range = [sorted[0]!, sorted.at(-1)!].map(round => round.ours.p99Milliseconds.toFixed(2)).join(' - ');
  const answered = ({ rate: kept }: RateOutcome) => (kept < LEAST_OF_RATE * rate ? 'void, ' : '') + kept.toFixed(0);
  const sides = [ours, bare];
  return [
    ...latencies(ours),
    range,
    ...latencies(bare),
    ...sides.map(answered),
    ...sides.map(({ cpu, seconds }) => busyCell(cpu, seconds)),
  ];
}
