import { chooseAdapter, type HttpServerName } from '../src/http/choose-adapter.js';
import { answersPerSecond, type Bare, bottleneckOf, type Comparison, compare, type Generator, type SideResult } from './load/compare.js';
import { startServer } from './load/server.js';
import { type Trial, trials } from './load/trials.js';
import { Worker } from './load/worker.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** Requests per second of each kind over each HTTP server, compared with a bare handler that sends the same bytes. */

export interface RequestsOptions {
  seconds: number;
  connections: number;
  /** auto: each one that runs on this machine. */
  httpServer: HttpServerName;
  cpuProf?: string;
}

const head = [
  'trial',
  'HTTP server',
  'req/s',
  'bare req/s',
  'ratio',
  'rounds',
  'p50 ms',
  'p99 ms',
  'CPU s',
  'bare CPU s',
  'CPU ratio',
  'limit',
  'bare limit',
  'failures',
];
const legend = (bare: string) =>
  `bare: a handler of ${bare} that does nothing else. ` +
  'ratio: req/s over bare req/s, median of three rounds. CPU s: server (all threads) + generator. CPU ratio: server CPU time of a request ' +
  'to the bare handler over that of a request to Ballast: the ratio that a faster generator would measure. limit: the ' +
  'busier main thread, with the share of the time in which it ran / would have run with a core to itself; ' +
  'waiting: it mostly waited for the disk or for other threads.';

/** Runs the chosen trials (default: all), each on a fresh server. Throws if a request failed. */
export async function requests(chosen: readonly string[], options: RequestsOptions): Promise<Result[]> {
  const unknown = chosen.find(name => !(name in trials));
  if (unknown !== undefined) throw new Error(`there is no trial "${unknown}": choose from ${Object.keys(trials).join(', ')}`);
  const { name: chosenServer } = await chooseAdapter(options.httpServer);
  const httpServers = options.httpServer === 'auto' ? [...new Set([chosenServer, 'node'])] : [chosenServer];
  const bare: Bare = new Worker('bench/load/bare-server.js');
  const generator: Generator = new Worker('bench/load/generator.js');
  const rows: string[][] = [];
  let bareName = '';
  try {
    ({ name: bareName } = await bare.ask({ status: 200, bytes: 1 }));
    for (const [name, trial] of Object.entries(trials)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      for (const httpServer of httpServers) {
        printStep(`${name}, ${httpServer}: ${trial.about}`);
        rows.push(toRow(name, httpServer, await onFreshServer(trial, httpServer, options, bare, generator)));
      }
    }
  } finally {
    await Promise.all([bare.stop(), generator.stop()]);
  }
  const failed = rows.filter(row => row.at(-1) !== '0').map(([name]) => name);
  if (failed.length > 0) throw new Error(`requests of ${failed.join(', ')} failed: no results are printed, because they would be wrong`);
  return [{ title: 'Requests', head, rows, legend: legend(bareName) }];
}

async function onFreshServer(
  trial: Trial,
  httpServer: string,
  options: RequestsOptions,
  bare: Bare,
  generator: Generator,
): Promise<Comparison> {
  const profile = options.cpuProf ? ['--cpu-prof', `--cpu-prof-dir=${options.cpuProf}`] : [];
  const server = await startServer({ nodeArgs: profile, flags: ['--http-server', httpServer] });
  try {
    return await compare(trial, options, { server, bare, generator });
  } finally {
    await server.stop();
  }
}

function toRow(name: string, httpServer: string, { ours, bare, ratio, ratios }: Comparison): string[] {
  const cpu = ({ server, generator }: SideResult) => `${server.all.toFixed(1)} + ${generator.all.toFixed(1)}`;
  const each = ({ server, answers }: SideResult) => server.all / answers;
  return [
    name,
    httpServer,
    answersPerSecond(ours).toFixed(0),
    answersPerSecond(bare).toFixed(0),
    ratio.toFixed(2),
    ratios.map(value => value.toFixed(2)).join(' - '),
    ours.p50Milliseconds.toFixed(2),
    ours.p99Milliseconds.toFixed(2),
    cpu(ours),
    cpu(bare),
    (each(bare) / each(ours)).toFixed(2),
    bottleneckOf(ours),
    bottleneckOf(bare),
    String(ours.failures + bare.failures),
  ];
}
