import { chooseAdapter, type HttpServerName } from '../src/http/choose-adapter.js';
import {
  answersPerSecond,
  type Bare,
  bottleneckOf,
  type Comparison,
  compare,
  type Generator,
  isVoid,
  ratioOf,
  type SideResult,
} from './load/compare.js';
import { redisVersion, startRedis } from './load/redis.js';
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
  'server',
  'generator',
  'req/s',
  'bare req/s',
  'of bare',
  'rounds',
  'p50 ms',
  'p99 ms',
  'CPU us',
  'bare CPU us',
  'CPU ratio',
  'limit',
  'bare limit',
];
const legend = (bare: string) =>
  `bare: a handler of ${bare} that reads and sends as many bytes and does nothing else. of bare: req/s over bare req/s, median of three rounds. ` +
  'void: the generator took more than 0.9 of a core, so that it was the limit, not the server. CPU us: processor time of the server for a ' +
  'request, all threads and the kernel. CPU ratio: that of the bare handler over it. limit: the busier main thread, with the ' +
  'share of the time in which it ran / would have run with a core to itself; waiting: it mostly waited for the disk or for ' +
  'other threads. generator: sockets sends prepared requests over raw sockets; autocannon is what users can repeat with its own command. ' +
  'Redis: pops one test of 1,000 in a script that notes lease and owner, and flushes it to disk before it answers (appendfsync always).';

/** Generators by name, and their programs. */
const generators = { sockets: 'bench/load/socket-generator.js', autocannon: 'bench/load/autocannon-generator.js' } as const;
type GeneratorName = keyof typeof generators;

/** Runs the chosen trials (default: all), each on a fresh server. Throws if a request failed. */
export async function requests(chosen: readonly string[], options: RequestsOptions): Promise<Result[]> {
  const unknown = chosen.find(name => !(name in trials));
  if (unknown !== undefined) throw new Error(`there is no trial "${unknown}": choose from ${Object.keys(trials).join(', ')}`);
  const { name: chosenServer } = await chooseAdapter(options.httpServer);
  const httpServers = options.httpServer === 'auto' ? [...new Set([chosenServer, 'node'])] : [chosenServer];
  const bare: Bare = new Worker('bench/load/bare-server.js');
  const redis = redisVersion();
  const rows: string[][] = [];
  try {
    const { name: bareName } = await bare.ask({ status: 200, bytes: 1 });
    for (const [name, trial] of Object.entries(trials)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      for (const httpServer of httpServers) {
        for (const generator of Object.keys(generators) as GeneratorName[]) {
          printStep(`${name}, ${httpServer}, ${generator}: ${trial.about}`);
          const hasPeer = redis !== null && 'hasPeer' in trial && httpServer === chosenServer && generator === 'sockets';
          const compared = await onFreshServer(trial, httpServer, options, bare, generator, hasPeer ? redis : null);
          rows.push(...toRows(name, httpServer, generator, compared, redis));
        }
      }
    }
    return [{ title: 'Requests', head, rows, legend: legend(bareName) }];
  } finally {
    await bare.stop();
  }
}

/** Throws if a request failed: the results would be wrong. */
async function onFreshServer(
  trial: Trial,
  httpServer: string,
  options: RequestsOptions,
  bare: Bare,
  generatorName: GeneratorName,
  redis: string | null,
): Promise<Comparison> {
  const profile = options.cpuProf ? ['--cpu-prof', `--cpu-prof-dir=${options.cpuProf}`] : [];
  const generator: Generator = new Worker(generators[generatorName]);
  const server = await startServer({ nodeArgs: profile, flags: ['--http-server', httpServer] });
  const peer = redis === null ? null : await startRedis(redis);
  try {
    const compared = await compare(trial, options, { server, bare, generator, peer });
    const failures = [compared.ours, compared.bare, compared.peer].reduce((sum, side) => sum + (side?.failures ?? 0), 0);
    if (failures > 0) throw new Error(`${failures} requests of the trial ${trial.about} failed`);
    return compared;
  } finally {
    await Promise.all([server.stop(), generator.stop(), peer?.stop()]);
  }
}

function toRows(
  name: string,
  httpServer: string,
  generator: string,
  { ours, bare, peer, ratios }: Comparison,
  redis: string | null,
): string[][] {
  const cpu = ({ server, answers }: SideResult) => (1e6 * server.all) / answers;
  const row = (server: string, side: SideResult, rounds: string) => [
    name,
    server,
    generator,
    answersPerSecond(side).toFixed(0),
    answersPerSecond(bare).toFixed(0),
    isVoid(side) || isVoid(bare) ? 'void' : ratioOf(side, bare).toFixed(2),
    rounds,
    side.p50Milliseconds.toFixed(2),
    side.p99Milliseconds.toFixed(2),
    cpu(side).toFixed(0),
    cpu(bare).toFixed(0),
    (cpu(bare) / cpu(side)).toFixed(2),
    bottleneckOf(side),
    bottleneckOf(bare),
  ];
  const rows = [row(httpServer, ours, ratios.map(ratio => ratio.toFixed(2)).join(' - '))];
  if (peer) rows.push(row(`Redis ${redis}`, peer, ''));
  return rows;
}
