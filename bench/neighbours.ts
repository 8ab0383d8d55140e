import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { printStep } from '../test/testbed/progress.js';
import { MAIN, type Server, startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import { ask } from '../test/testbed/worker-messages.js';
import { chosenOf } from './load/chosen.js';
import { largestRequests } from './load/largest-requests.js';
import type { LoadQuestion } from './load/loader.js';
import type { LoopDelays } from './load/probe.js';
import { probed } from './load/probed.js';
import { assertNoFailures, type LoadOutcome } from './load/tally.js';
import type { Result } from './results.js';

/** Delays of the small requests of one project by the largest ones of another. */

export interface NeighboursOptions {
  /** Kinds of requests; none: all. */
  chosen: readonly string[];
  /** Duration of each load. */
  seconds: number;
  /** Requests at a time. */
  loops: number;
  pullsPerSecond?: number;
}

type Loader = Worker<LoadQuestion, LoadOutcome[] | null>;

const head = ['requests', 'elsewhere', 'pulls p99 ms', 'stall ms', 'here', 'pulls p99 ms', 'max ms', 'stall ms', 'p99 ratio'];

export async function neighbours({ chosen, seconds, loops, pullsPerSecond = 250 }: NeighboursOptions): Promise<Result[]> {
  const names = chosenOf('request', chosen, largestRequests).map(([name]) => name);
  const here = await startServer(probed);
  const elsewhere = await startServer();
  const small: Loader = new Worker('bench/load/loader.js');
  try {
    const queues = Math.ceil((3 * seconds * names.length * pullsPerSecond) / 60);
    const pulls = { kind: 'pulls', perSecond: pullsPerSecond, connections: 128, queues, files: 1000 } as const;
    printStep('neighbours: preparing');
    await small.ask({ verb: 'prepare', url: here.url, plans: [pulls] });
    const tokens = new Map([here, elsewhere].map(server => [server, newProject(server)]));
    const alone = await measure(here, small, null, seconds);
    const rows = [['none', '', ms(alone.pulls.p99Milliseconds), ms(alone.stall), '', '', '', '', '']];
    for (const name of names) {
      printStep(`neighbours: ${name}, ${largestRequests[name]!.about}`);
      const beside = await load(elsewhere, name);
      const at = await load(here, name);
      rows.push([
        name,
        String(beside.answers),
        ...[beside.pulls.p99Milliseconds, beside.stall].map(ms),
        String(at.answers),
        ...[at.pulls.p99Milliseconds, at.pulls.maxMilliseconds, at.stall].map(ms),
        (at.pulls.p99Milliseconds / beside.pulls.p99Milliseconds).toFixed(1),
      ]);
      printStep(rows.at(-1)!.join(', '));
    }
    const about = names.map(name => `${name}: ${largestRequests[name]!.about} (POST ${largestRequests[name]!.path})`).join('; ');
    const legend =
      `pulls: ${pullsPerSecond} per second from queues of 1,000 files of one project, for ${seconds} s each. Another project sends ${loops} of its largest ` +
      'requests at a time: elsewhere, to another server on the same machine, and then here, to the server of the pulls. Their columns are the ' +
      'answers to them, and what the pulls took meanwhile. stall: the longest delay of a timer that is due every millisecond in the main thread of the ' +
      `server of the pulls, without the time in which that thread waited for a processor. ${about}.`;
    return [{ title: 'Neighbours', head, rows, legend }];

    async function load(server: Server, name: string) {
      const large: Loader = new Worker('bench/load/loader.js');
      try {
        const plan = { kind: 'largest', name, loops, token: tokens.get(server)! } as const;
        await large.ask({ verb: 'prepare', url: server.url, plans: [plan] });
        return await measure(here, small, large, seconds);
      } finally {
        await large.stop();
      }
    }
  } finally {
    await Promise.all([small, here, elsewhere].map(each => each.stop()));
  }
}

const ms = (milliseconds: number) => milliseconds.toFixed(1);

/** Creates a project on a server. Returns its token. */
function newProject({ dataDir }: Server): string {
  return execFileSync(process.execPath, [MAIN, 'project', 'create', 'neighbour', '--data-dir', dataDir], { encoding: 'utf8' }).trim();
}

/** Runs the pulls for a time, beside a load that has begun before. */
async function measure({ child }: Server, small: Loader, large: Loader | null, seconds: number) {
  await large?.ask({ verb: 'begin' });
  await sleep(large ? 1000 : 0);
  await ask<null>(child, { verb: 'reset' });
  await small.ask({ verb: 'begin' });
  await sleep(seconds * 1000);
  const { busyMilliseconds: stall } = await ask<LoopDelays>(child, { verb: 'read' });
  const [[pulls], [others] = []] = await Promise.all([
    small.ask<LoadOutcome[]>({ verb: 'end' }),
    large?.ask<LoadOutcome[]>({ verb: 'end' }) ?? [],
  ]);
  assertNoFailures(others ? [pulls!, others] : [pulls!]);
  return { pulls: pulls!, stall, answers: others?.answers ?? 0 };
}
