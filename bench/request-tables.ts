import type { Comparison } from './load/compare.js';
import type { GeneratorName } from './load/generators.js';
import { answersPerSecond, busyCell, cpuMicroseconds, ratioCell, type SideResult } from './load/side.js';
import type { Trial } from './load/trials.js';
import type { Result } from './results.js';

/** A comparison that was made. */
export interface Compared {
  name: string;
  trial: Trial;
  server: string;
  generator: GeneratorName;
  /** True if the row has the cheapest generator of its trial. */
  isFirst: boolean;
  /** The version of the peer. */
  redis: string | null;
  comparison: Comparison;
}

const requestsHead = [
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
  'server %',
  'generator %',
  'bare server %',
  'bare generator %',
];

export function requestsTable(all: readonly Compared[], bareName: string): Result {
  const rows = all.flatMap(compared => {
    const { server, redis, comparison } = compared;
    const { ours, peer, ratios } = comparison;
    const rounds = `${ratios[0]!.toFixed(2)} - ${ratios.at(-1)!.toFixed(2)}`;
    return [requestsRow(compared, server, ours, rounds), ...(peer ? [requestsRow(compared, `Redis ${redis}`, peer, '')] : [])];
  });
  const legend =
    `bare: a handler of ${bareName} that reads and sends as many bytes and does nothing else, loaded by the same generator in alternation. ` +
    'of bare: req/s over bare req/s, median of three rounds. generator: wrk and sockets send prepared requests, wrk from C and Lua, sockets ' +
    'from Node over raw sockets. Latencies are those of the generator, which has one request at a time on each connection. ' +
    'void: the generator was the limit of that side, not the server. It took more than 0.9 of a core, and more than the main thread of the ' +
    'server. at most: the bare handler can do more. at least: the server can do more. The CPU columns are valid in a void row, too. ' +
    'CPU us: processor time of the server for a request, all threads and the kernel. CPU ratio: that of the bare handler over it. ' +
    '%: the share of the time in which the main thread ran / would have run with a core to itself; far apart, other programs took ' +
    'the cores: measure again. ' +
    'Redis: pops one test of 1,000 in a script that notes lease and owner, and flushes it to disk before it answers (appendfsync always).';
  return { title: 'Requests', head: requestsHead, rows, legend };
}

function requestsRow({ name, generator, comparison: { bare } }: Compared, server: string, side: SideResult, rounds: string): string[] {
  return [
    name,
    server,
    generator,
    answersPerSecond(side).toFixed(0),
    answersPerSecond(bare).toFixed(0),
    ratioCell(side, bare),
    rounds,
    side.p50Milliseconds.toFixed(2),
    side.p99Milliseconds.toFixed(2),
    cpuMicroseconds(side).toFixed(1),
    cpuMicroseconds(bare).toFixed(1),
    (cpuMicroseconds(bare) / cpuMicroseconds(side)).toFixed(2),
    busyCell(side.server, side.seconds),
    busyCell(side.cpu, side.seconds),
    busyCell(bare.server, bare.seconds),
    busyCell(bare.cpu, bare.seconds),
  ];
}

const costsHead = ['request', 'server', 'CPU us', 'rounds', 'main thread us', 'other threads us', 'of it kernel us', 'more than', 'by us'];

/** Table of the cost of a request, by trial: a step that is added to one of them shows in its row. */
export function costsTable(all: readonly Compared[], bareName: string): Result {
  const firsts = all.filter(({ isFirst }) => isFirst);
  const rows = firsts.map(({ name, trial, server, comparison: { ours, bare, costs } }) => {
    const base = firsts.find(other => other.name === trial.extends && other.server === server);
    const cost = cpuMicroseconds(ours);
    const main = (1e6 * ours.server.main) / ours.answers;
    return [
      name,
      server,
      cost.toFixed(1),
      `${(1e6 * costs[0]!).toFixed(1)} - ${(1e6 * costs.at(-1)!).toFixed(1)}`,
      main.toFixed(1),
      Math.max(0, cost - main).toFixed(1),
      ((1e6 * ours.server.kernel) / ours.answers).toFixed(1),
      base ? base.name : bareName,
      (cost - cpuMicroseconds(base ? base.comparison.ours : bare)).toFixed(1),
    ];
  });
  const legend =
    'CPU us: processor time of the server for a request under the load of the table above, all threads and the kernel; rounds: the lowest and ' +
    'the highest of three. more than: the trial that does a part of the same work, or the bare handler with as many bytes. ' +
    'by us: what the further steps cost.';
  return { title: 'Requests: what one costs', head: costsHead, rows, legend };
}
