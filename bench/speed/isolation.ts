import { setTimeout as sleep } from 'node:timers/promises';
import { type Cpu, cpuOf, since } from '../requests/cpu.js';
import { Helper, type Server, startServer } from '../requests/processes.js';
import type { Result } from '../results.js';
import type { LoadQuestion } from './load.js';
import { type Delays, LoopDelay, shown } from './loop-delay.js';
import { assertNoFailures, type LoadOutcome } from './tally.js';

/** Whether large suites hold up the small requests of everybody else. */

export interface IsolationExtent {
  /** Of each of the three loads. */
  seconds: number;
  pullsPerSecond?: number;
  initializedFiles?: number;
  recordedFiles?: number;
}

const head = [
  'load',
  'server late ms',
  'bystander late ms',
  'main thread ran',
  'starved',
  'pulls',
  'p50 ms',
  'p99 ms',
  'max ms',
  'initialised',
  'median ms',
  'recorded',
  'median ms',
];

type Loader = Helper<LoadQuestion, LoadOutcome[] | null>;

export async function isolation(extent: IsolationExtent): Promise<Result[]> {
  const { seconds, pullsPerSecond = 500, initializedFiles = 10_000, recordedFiles = 10_000 } = extent;
  const server = await startServer({ isWatched: true });
  const small: Loader = new Helper('speed/load.js');
  const large: Loader = new Helper('speed/load.js');
  const bystander = new Helper('speed/bystander.js');
  const { url } = server;
  try {
    process.stderr.write('isolation: preparing\n');
    // A queue lasts for more than twice as many pulls, so that none ends and is made anew.
    const queues = Math.ceil((2 * seconds * pullsPerSecond) / 60);
    await small.ask({ verb: 'prepare', url, plans: [{ kind: 'pulls', perSecond: pullsPerSecond, connections: 8, queues, files: 1000 }] });
    const succession = { kind: 'succession', pauseMilliseconds: 0 } as const;
    await large.ask({
      verb: 'prepare',
      url,
      plans: [
        { ...succession, what: 'queue', files: initializedFiles, nodes: 64 },
        { ...succession, what: 'recording', files: recordedFiles, nodes: 2 },
      ],
    });
    const rows: string[][] = [];
    for (const [name, loaders] of [['nothing', []], ['pulls', [small]], ['pulls, large suites', [small, large]]] as const) {
      process.stderr.write(`isolation: ${name}\n`);
      rows.push([name, ...(await underLoad(loaders, seconds, server, bystander))]);
    }
    return [{ title: 'Isolation', head, rows, legend: legendOf(extent, pullsPerSecond) }];
  } finally {
    await Promise.all([small.stop(), large.stop(), bystander.stop(), server.stop()]);
  }
}

async function underLoad(loaders: readonly Loader[], seconds: number, server: Server, bystander: Helper<object, unknown>): Promise<string[]> {
  const loops = [new LoopDelay(server.child), new LoopDelay(bystander.child)];
  const cpu = cpuOf(server.pid);
  const begun = performance.now();
  for (const loop of loops) await loop.reset();
  for (const loader of loaders) await loader.ask({ verb: 'begin' });
  await sleep(seconds * 1000);
  const outcomes = (await Promise.all(loaders.map(loader => loader.ask<LoadOutcome[]>({ verb: 'end' })))).flat();
  const [server_, bystander_] = await Promise.all(loops.map(loop => loop.read()));
  assertNoFailures(outcomes);
  const took = since(cpu, cpuOf(server.pid));
  return [...lateness(server_!, bystander_!, took, (performance.now() - begun) / 1000), ...answered(outcomes)];
}

function lateness(server: Delays, bystander: Delays, { main, starved }: Cpu, seconds: number): string[] {
  const percent = (part: number) => `${((100 * part) / seconds).toFixed(1)} %`;
  return [shown(server), shown(bystander), percent(main), percent(starved)];
}

function answered([pulls, initialized, recorded]: readonly LoadOutcome[]): string[] {
  const median = (outcome: LoadOutcome | undefined) => (outcome ? outcome.p50Milliseconds.toFixed(0) : '-');
  return [
    String(pulls?.answers ?? 0),
    ...(pulls ? [pulls.p50Milliseconds, pulls.p99Milliseconds, pulls.maxMilliseconds].map(value => value.toFixed(2)) : ['-', '-', '-']),
    ...[initialized, recorded].flatMap(outcome => [String(outcome?.answers ?? 0), median(outcome)]),
  ];
}

function legendOf({ seconds, initializedFiles = 10_000 }: IsolationExtent, pullsPerSecond: number): string {
  return (
    `${seconds} s each on one server. pulls: ${pullsPerSecond} a second from queues of 1,000 files, over 8 connections. large suites: ` +
    `initialisations of ${initializedFiles} files for 64 nodes one after the other, and at the same time recordings of 5,000 files one after ` +
    'the other, all from one process. late: most, and 99th percentile, of how late the event loop of the server’s main thread was for a timer ' +
    'due every millisecond; bystander: the same of a process that does nothing, which the operating system alone makes late. ' +
    'ran, starved: shares of the time in which the main thread ran, and in which it had something to do but no core was free.'
  );
}
