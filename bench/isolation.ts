import { setTimeout as sleep } from 'node:timers/promises';
import { printStep } from '../test/testbed/progress.js';
import { type Server, startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import { ask } from '../test/testbed/worker-messages.js';
import { cpuBetween, readCpu } from './load/cpu.js';
import type { LoadQuestion } from './load/loader.js';
import type { LoopDelays } from './load/probe.js';
import { probed } from './load/probed.js';
import { assertNoFailures, type LoadOutcome } from './load/tally.js';
import type { Result } from './results.js';

/** Delays of small requests by large suites. */

export interface IsolationOptions {
  /** Duration of each of the three loads. */
  seconds: number;
  pullsPerSecond?: number;
  /** Files of a suite, which is initialised, or recorded in two requests. */
  files?: number;
}

/** Two processes load the server, so that the bodies of large suites do not delay the pulls in their client. */
type Loader = Worker<LoadQuestion, LoadOutcome[] | null>;

const NODES = 64;
const head = [
  ...['load', 'server delay ms', 'idle process delay ms', 'main thread ran', 'starved'],
  ...['pulls', 'p50 ms', 'p99 ms', 'max ms', 'initialised', 'median ms', 'recorded', 'median ms'],
];

export async function isolation({ seconds, pullsPerSecond = 500, files = 10_000 }: IsolationOptions): Promise<Result[]> {
  const server = await startServer(probed);
  const idle = new Worker('bench/load/idle-process.js');
  const small: Loader = new Worker('bench/load/loader.js');
  const large: Loader = new Worker('bench/load/loader.js');
  const { url } = server;
  try {
    printStep('isolation: preparing');
    // The queues last for more than twice the pulls that are sent, so none has to be replaced.
    const queues = Math.ceil((2 * seconds * pullsPerSecond) / 60);
    const pulls = { kind: 'pulls', perSecond: pullsPerSecond, connections: 8, queues, files: 1000 } as const;
    await small.ask({ verb: 'prepare', url, plans: [pulls] });
    const suites = { kind: 'suites', pauseMilliseconds: 0, files, nodes: NODES } as const;
    const plans = (['queue', 'recording'] as const).map(what => ({ ...suites, what }));
    await large.ask({ verb: 'prepare', url, plans });

    const rows: string[][] = [];
    const loads: [string, Loader[]][] = [
      ['nothing', []],
      ['pulls', [small]],
      ['pulls, large suites', [small, large]],
    ];
    for (const [name, loaders] of loads) {
      printStep(`isolation: ${name}`);
      rows.push([name, ...(await measure(server, idle, loaders, seconds))]);
    }
    const legend =
      `${seconds} s each on one server. pulls: ${pullsPerSecond} per second from queues of 1,000 files, over 8 connections. large suites: ` +
      `initialisations of ${files} files for ${NODES} nodes in sequence, and at the same time recordings of 5,000 files in ` +
      'sequence, all from one process. delay: maximum, and in parentheses the 99th percentile, of the delay of a timer that is due every millisecond in the ' +
      'server’s main thread; idle process: the same for a process that only the operating system delays. ran, starved: ' +
      'shares of the time in which the main thread ran, and in which it was ready to run but no core was free.';
    return [{ title: 'Isolation', head, rows, legend }];
  } finally {
    await Promise.all([small, large, idle, server].map(each => each.stop()));
  }
}

/** Runs the loads for a time. Returns the cells of their row. Throws if a request failed. */
async function measure({ child, pid }: Server, idle: Worker<object, unknown>, loaders: readonly Loader[], duration: number) {
  const probed = [child, idle.child];
  for (const process of probed) await ask<null>(process, { verb: 'reset' });
  const before = readCpu(pid);
  const from = performance.now();
  for (const loader of loaders) await loader.ask({ verb: 'begin' });
  await sleep(duration * 1000);
  const outcomes = (await Promise.all(loaders.map(loader => loader.ask<LoadOutcome[]>({ verb: 'end' })))).flat();
  const delays = await Promise.all(probed.map(process => ask<LoopDelays>(process, { verb: 'read' })));
  const seconds = (performance.now() - from) / 1000;
  assertNoFailures(outcomes);
  const { main, starved } = cpuBetween(before, readCpu(pid));
  const [pulls, ...suites] = outcomes;
  return [
    ...delays.map(({ maxMilliseconds, p99Milliseconds }) => `${maxMilliseconds.toFixed(1)} (${p99Milliseconds.toFixed(1)})`),
    ...[main, starved].map(part => `${((100 * part) / seconds).toFixed(1)} %`),
    ...pullCells(pulls),
    ...[0, 1].flatMap(i => (suites[i] ? [String(suites[i].answers), suites[i].p50Milliseconds.toFixed(0)] : ['0', '-'])),
  ];
}

function pullCells(pulls: LoadOutcome | undefined): string[] {
  if (!pulls) return ['0', '-', '-', '-'];
  const { answers, p50Milliseconds, p99Milliseconds, maxMilliseconds } = pulls;
  return [String(answers), ...[p50Milliseconds, p99Milliseconds, maxMilliseconds].map(value => value.toFixed(2))];
}
