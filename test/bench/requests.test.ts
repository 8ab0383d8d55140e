import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bare, compare, type Generator } from '../../bench/load/compare.js';
import { findInstalled, generators, plannedComparisons } from '../../bench/load/generators.js';
import { type Trial, trials } from '../../bench/load/trials.js';
import { requests } from '../../bench/requests.js';
import { type Server, startServer } from '../testbed/server.js';
import { Worker } from '../testbed/worker.js';

const few = { seconds: 0, amount: 20, connections: 2 };
const { redis } = findInstalled();

/** Runs every trial with a minimal load. */
describe('the benchmark of requests', () => {
  let server: Server;
  let bare: Bare;
  let generator: Generator;
  beforeAll(async () => {
    bare = new Worker('bench/load/bare-server.js');
    generator = new Worker(generators.sockets);
    server = await startServer();
  });
  afterAll(() => Promise.all([server.stop(), bare.stop(), generator.stop()]));

  it.each(Object.entries(trials))('measures %s', async (_name, trial) => {
    const compared = await compare(trial, few, { server, bare, generator });
    expect(compared.ours).toMatchObject({ answers: 20, failures: 0 });
    expect(compared.bare).toMatchObject({ answers: 20, failures: 0 });
  });

  it('has a row over raw sockets on a machine without wrk, and one for Redis where it is installed', async () => {
    const [speeds, costs] = await requests(['pulls'], { ...few, httpServer: 'node' }, { wrk: false, redis });
    const expected = [['pulls', 'node', 'sockets']];
    if (redis) expected.push(['pulls', `Redis ${redis}`, 'sockets']);
    expect(speeds!.rows.map(row => row.slice(0, 3))).toEqual(expected);
    expect(costs!.rows.map(row => row.slice(0, 2))).toEqual([['pulls', 'node']]);
  });

  it('refuses a trial that does not exist', async () => {
    await expect(requests(['pull'], { ...few, httpServer: 'auto' })).rejects.toThrow(/no trial "pull": choose from connect/);
  });

  it.each<[string, boolean, boolean, string[]]>([
    ['wrk and Redis', true, true, ['wrk', 'sockets with the peer']],
    ['wrk', true, false, ['wrk']],
    ['Redis', false, true, ['sockets with the peer']],
    ['neither', false, false, ['sockets']],
  ])('chooses the generators of a machine with %s', (_installed, hasWrk, hasPeer, expected) => {
    const planned = plannedComparisons(hasWrk, hasPeer).map(({ generator, withPeer }) => generator + (withPeer ? ' with the peer' : ''));
    expect(planned).toEqual(expected);
  });

  it('measures each trial after the one whose steps it contains', () => {
    const names = Object.keys(trials);
    for (const [name, trial] of Object.entries<Trial>(trials)) {
      if (trial.extends) expect(names.slice(0, names.indexOf(name))).toContain(trial.extends);
    }
  });
});
