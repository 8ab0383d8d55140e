import { expect, it } from 'vitest';
import { Clock } from '../../harness/clock.js';
import { record, timedTestFiles } from '../../harness/messages.js';
import { startServer } from '../../harness/server.js';
import { playCiRun } from '../../recomputed/ci-runs.js';
import { seededRandom } from '../../testbed/random.js';
import { residual, syntheticSuite } from '../../testbed/synthetic.js';

const NODES = 8;
const HIDDEN = 2;

/** A server that recorded files of 2 s on average once, and a draw of the times that they take in a build. */
async function learnedFrom(seed: number) {
  const random = seededRandom(seed);
  const usual = [...syntheticSuite(seed, 400).timings].map(([path, seconds]) => [path, Math.min(20, seconds)] as const);
  const clock = new Clock();
  const client = await startServer({}, clock.now, clock.now);
  await record(client, { commit_hash: 'before', test_files: timedTestFiles(Object.fromEntries(usual)) });
  const times = () => Object.fromEntries(usual.map(([path, time]) => [path, time * residual(random)]));
  return { random, clock, client, times };
}

/** Each file takes 2 s more than its node records. */
it('nodes finish together from the second build on, though reports tell half of the time', async () => {
  const { random, clock, client, times } = await learnedFrom(3);
  const ratios: number[] = [];
  for (const commit_hash of ['c0', 'c1', 'c2']) {
    const files = times();
    const nodes = Array.from({ length: NODES }, () => ({ slow: 1 / (0.9 + 0.2 * random()), start: 10 * random() }));
    const began = clock.millis;
    const { recorded } = await playCiRun(client, clock, { mode: 'queue', commit_hash, files, nodes, batch: 2, hidden: HIDDEN });
    const first = Math.min(...nodes.map(({ start }) => start));
    const wall = (recorded.at(-1)!.at - began) / 1000 - first;
    const work = Object.values(files).reduce((sum, time) => sum + time + HIDDEN, 0);
    const speed = nodes.reduce((sum, { slow }) => sum + 1 / slow, 0);
    const lateness = nodes.reduce((sum, { start, slow }) => sum + (start - first + 2) / slow, 0);
    ratios.push(wall / ((work + lateness) / speed));
  }
  expect(Math.max(...ratios.slice(1))).toBeLessThan(1.06);
  const [{ id }] = (await client.get('/v1/builds')).json.data;
  const { cost, parts, verdict } = (await client.get(`/v1/builds/${id}/minutes`)).json;
  const unreported = parts.find(({ name }: { name: string }) => name === 'unreported').seconds;
  const exact = (HIDDEN * 400) / NODES;
  expect([Math.abs(cost.hidden - HIDDEN) < 0.4, Math.abs(unreported - exact) < 0.2 * exact]).toEqual([true, true]);
  expect(verdict).toMatch(/ A file took about [12]\.\d s that is in no report, .* of the build: fewer and larger files, or /);
  expect(Math.min(...ratios)).toBeGreaterThan(0.99);
  const { variants, assumptions } = (await client.get(`/v1/builds/${id}/what_if?nodes=${NODES}`)).json;
  const [{ wall: played, measured }] = variants;
  expect(Math.abs(played / measured - 1)).toBeLessThan(0.03);
  expect(assumptions.sentences).toContainEqual(expect.stringMatching(/^Each file takes [12](\.\d)? s that is in no report\.$/));
  const { json: plan } = await client.post('/v1/plan', { branch: 'main', nodes: String(NODES) });
  expect(Math.abs(plan.variants[0].wall / measured - 1)).toBeLessThan(0.05);
});

it('a second build that begins when the first ends is planned with what the batches of the first cost', async () => {
  const clock = new Clock();
  const client = await startServer({}, clock.now, clock.now);
  const files = Object.fromEntries(Array.from({ length: 183 }, (_, i) => [`t/${i}.test.js`, 0.01]));
  const build = { mode: 'queue', files, nodes: [{}, { start: 1 }, { start: 4, slow: 1.3 }], batch: 1, hidden: 0.045 } as const;
  await playCiRun(client, clock, { ...build, commit_hash: 'c0' });
  const { recorded } = await playCiRun(client, clock, { ...build, commit_hash: 'c1' });
  const ends = recorded.map(({ at }) => at / 1000);
  // By the recorded times alone, the second node would get 111 of the 183 files at once, and end 4 s after the first.
  expect(Math.max(...ends) - Math.min(...ends)).toBeLessThan(1.5);
});

it.each([
  ['the hidden time of files', 2, 2],
  ['no hidden time where the start of the runner takes long', 0, 40],
])('a project without queues learns from the nodes of its splits: %s', async (_, hidden, start) => {
  const { random, clock, client, times } = await learnedFrom(4);
  for (const commit_hash of ['c0', 'c1', 'c2']) {
    const nodes = Array.from({ length: NODES }, () => ({ slow: 0.95 + 0.1 * random() }));
    await playCiRun(client, clock, { mode: 'split', commit_hash, files: times(), nodes, batch: start, hidden });
  }
  const [{ id }] = (await client.get('/v1/builds')).json.data;
  const { cost, kind } = (await client.get(`/v1/builds/${id}/minutes`)).json;
  expect([kind, Math.abs(cost.hidden - hidden) <= hidden / 2]).toEqual(['split', true]);
});
