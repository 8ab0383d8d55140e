import { chooseAdapter, type HttpServerName } from '../src/server/http/choose-adapter.js';
import { printStep } from '../test/testbed/progress.js';
import { startServer } from '../test/testbed/server.js';
import { Worker } from '../test/testbed/worker.js';
import { chosenOf } from './load/chosen.js';
import { type Bare, type CompareOptions, type Comparison, compare, type Generator } from './load/compare.js';
import { findInstalled, generators, type PlannedComparison, plannedComparisons } from './load/generators.js';
import { startRedis } from './load/redis.js';
import { type Trial, trials } from './load/trials.js';
import { type Compared, costsTable, requestsTable } from './request-tables.js';
import type { Result } from './results.js';

/** Requests per second of each kind over each HTTP server, compared with a bare handler that sends the same bytes. */

export interface RequestsOptions extends CompareOptions {
  /** auto: each one that runs on this machine. */
  httpServer: HttpServerName;
  cpuProf?: string;
}

/** Runs the chosen trials (default: all), each comparison on a fresh server. Throws if a request failed. */
export async function requests(chosen: readonly string[], options: RequestsOptions, installed = findInstalled()): Promise<Result[]> {
  const chosenTrials = chosenOf<Trial>('trial', chosen, trials);
  const { name: chosenServer } = await chooseAdapter(options.httpServer);
  const httpServers = options.httpServer === 'auto' ? [...new Set([chosenServer, 'node'])] : [chosenServer];
  const { wrk, redis } = installed;
  const bare: Bare = new Worker('bench/load/bare-server.js');
  const all: Compared[] = [];
  try {
    const { name: bareName } = await bare.ask({ status: 200, bytes: 1 });
    for (const [name, trial] of chosenTrials) {
      for (const httpServer of httpServers) {
        const hasPeer = redis !== null && trial.hasPeer === true && httpServer === chosenServer;
        const planned = plannedComparisons(wrk, hasPeer);
        for (const plan of planned) {
          printStep(`${name}, ${httpServer}, ${plan.generator}: ${trial.about}`);
          const comparison = await onFreshServer(trial, httpServer, options, bare, plan, redis);
          all.push({ name, trial, server: httpServer, generator: plan.generator, isFirst: plan === planned[0], redis, comparison });
        }
      }
    }
    return [requestsTable(all, bareName), costsTable(all, bareName)];
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
  plan: PlannedComparison,
  redis: string | null,
): Promise<Comparison> {
  const generator: Generator = new Worker(generators[plan.generator]);
  const server = await startServer({ cpuProf: options.cpuProf, flags: ['--http-server', httpServer] });
  const peer = plan.withPeer && redis !== null ? await startRedis(redis) : null;
  try {
    const compared = await compare(trial, options, { server, bare, generator, peer });
    const failures = [compared.ours, compared.bare, compared.peer].reduce((sum, side) => sum + (side?.failures ?? 0), 0);
    if (failures > 0) throw new Error(`${failures} requests of the trial ${trial.about} failed`);
    return compared;
  } finally {
    await Promise.all([server.stop(), generator.stop(), peer?.stop()]);
  }
}
