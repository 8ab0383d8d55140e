import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../bench/random.js';
import { residual, syntheticSuite } from '../../../bench/suites/synthetic.js';
import type { WhatIfAnswer } from '../../../src/engine/insight/what-if/what-if-answer.js';
import type { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { record } from '../../harness/messages.js';
import { startServer, type TestServer } from '../../harness/server.js';
import { runVirtualBuild, type VirtualBuild } from '../../harness/virtual-nodes.js';

/** What a build with N nodes says of M nodes, against a real build with M nodes of the same suite on the same day. */

const SEED = 7;
const FILES = 240;
const NODES = [4, 8, 12];

/** A suite with its estimates and its times of the day, the same for every project that records it. */
function suiteOf(seed: number) {
  const random = seededRandom(seed);
  // One file of a heavy-tailed suite may bind all of the builds, and then every prediction is right.
  const usual = [...syntheticSuite(seed, FILES).timings].map(([path, seconds]) => [path, 4 * Math.min(10, seconds)] as const);
  const day = () => new Map(usual.map(([path, seconds]) => [path, seconds * residual(random)]));
  return { days: [day(), day(), day()], today: day() };
}

/** A server that has recorded these days. */
async function serverWith(clock: Clock, days: readonly ReadonlyMap<string, number>[]): Promise<TestServer> {
  const client = await startServer({}, clock.now, clock.now);
  for (const [i, day] of days.entries()) {
    const test_files = [...day].map(([path, time_execution]) => ({ path, time_execution }));
    await record(client, { commit_hash: `day ${i}`, node_total: 1, test_files });
    clock.advance({ days: 1 });
  }
  return client;
}

// A split follows its estimates only. Two equally even ones end some percent apart, by the times of the day.
describe.each([
  { mode: 'queue', most: 0.03 },
  { mode: 'split', most: 0.06 },
] as const)('a $mode that is played again', ({ mode, most }) => {
  it('ends within 3 % of a real one with that number of nodes on average, and never far from it', async () => {
    const clock = new Clock();
    const { days, today } = suiteOf(SEED);
    const random = seededRandom(SEED);
    const speeds = Array.from({ length: Math.max(...NODES) }, () => 0.95 + 0.1 * random());
    const builds = new Map<number, { client: Client; wall: number }>();
    for (const count of NODES) {
      const client = await serverWith(clock, days);
      const build: VirtualBuild = {
        mode,
        commit_hash: 'today',
        paths: [...today.keys()],
        seconds: today,
        starts: Array.from({ length: count }, (_, node) => (8 * node) / (count - 1)),
        speeds,
        pullCost: () => 1 + random(),
      };
      builds.set(count, { client, wall: await runVirtualBuild(client, clock, build) });
    }
    const all: number[] = [];
    for (const { client } of builds.values()) {
      const [{ id }] = (await client.get('/v1/builds')).json.data;
      const { variants } = (await client.get(`/v1/builds/${id}/what_if?nodes=${NODES}`)).json as WhatIfAnswer;
      for (const { nodes, wall } of variants) all.push(Math.abs(wall / builds.get(nodes)!.wall - 1));
    }
    expect(all).toHaveLength(NODES.length ** 2);
    expect(Math.max(...all), String(all)).toBeLessThan(most);
    expect(all.reduce((sum, error) => sum + error, 0) / all.length, String(all)).toBeLessThan(0.03);
  });
});
