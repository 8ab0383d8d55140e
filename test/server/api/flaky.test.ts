import { describe, expect, it } from 'vitest';
import type { FlakyAnswer } from '../../../src/protocol/answers/flaky.js';
import { noSettings } from '../../../src/protocol/project-settings.js';
import { createProject } from '../../../src/server/engine/access.js';
import type { BuildFailures } from '../../../src/server/engine/ports/failures.js';
import { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { buildKey, manyPaths, record, startSplit } from '../../harness/messages.js';
import { startServer, type TestServer } from '../../harness/server.js';

const SUITE = manyPaths(30);
const [A, B, C] = SUITE as [string, string, string];

interface CiRun {
  /** The outcomes of files that did not pass. */
  outcomes?: Record<string, string>;
  suite?: readonly string[];
  commit_hash?: string;
  branch?: string;
  keys?: string[];
  tells?: boolean;
  /** Seconds that each file took. */
  seconds?: number;
}

async function begin() {
  const clock = new Clock();
  const server = await startServer({}, clock.now);
  let ciRuns = 0;
  /** Plays a CI run of two nodes by a split, in which each node runs half of the files in a minute. */
  const play = async ({ outcomes = {}, suite = SUITE, keys = [], tells = true, seconds = 1, ...build }: CiRun = {}) => {
    const ci_build_id = String(++ciRuns);
    const ofNode = (node_index: number) => ({ node_index, ci_build_id, ...build });
    const checkout = { tree: 'a'.repeat(40), proof_keys: keys };
    const parts: string[][] = [];
    for (const node of [0, 1]) {
      const { json } = await startSplit(server, suite, { ...ofNode(node), fixed_test_suite_split: false, ...checkout });
      parts.push((json.test_files as { path: string }[]).map(({ path }) => path));
    }
    await server.service.nodesNoted();
    clock.advance({ seconds: 60 });
    const recordAll = async (node: number, paths: readonly string[], told: Record<string, string>) => {
      const test_files = paths.map(path => ({ path, time_execution: seconds, ...(told[path] && { outcome: told[path] }) }));
      await record(server, { ...ofNode(node), tells_outcomes: tells, test_files });
    };
    for (const [node, paths] of parts.entries()) await recordAll(node, paths, outcomes);
    return { parts, again: recordAll };
  };
  const kept = async (): Promise<BuildFailures[]> => {
    await server.service.summarize();
    return (await server.store.failures.newest(1, 100)).map(({ failures }) => failures);
  };
  const numberOf = async (path: string) => (await server.store.builds.pathNumber(1, path))!;
  const flaky = async (query = ''): Promise<FlakyAnswer> => {
    await server.service.summarize();
    const { status, json } = await server.get(`/v1/flaky${query}`);
    expect(status).toBe(200);
    return json as FlakyAnswer;
  };
  return { clock, server, play, kept, numberOf, flaky };
}

describe('what failed in a build', () => {
  it('is kept when its summary is written: a file that passed when the build was started again is flaky', async () => {
    const { clock, play, kept, numberOf } = await begin();
    const began = clock.now();
    await play({ outcomes: { [A]: 'failed' } });
    expect(await kept()).toMatchObject([{ at: began, outages: [], files: [{ path: await numberOf(A), isFlaky: false, seconds: 0 }] }]);
    clock.advance({ seconds: 540 });
    await play();
    const price = { seconds: 30, later: 600 };
    expect(await kept()).toMatchObject([
      { at: began + 600_000, outages: [], files: [{ path: await numberOf(A), isFlaky: true, ...price }] },
    ]);
  });

  it('is kept of a job that was started again in the same CI run', async () => {
    const { clock, play, kept, numberOf } = await begin();
    const { parts, again } = await play({ outcomes: { [A]: 'failed' } });
    const node = parts.findIndex(paths => paths.includes(A));
    clock.advance({ seconds: 300 });
    await again(node, [A], {});
    const price = { node_index: node, seconds: 1, later: 300 };
    expect(await kept()).toMatchObject([{ files: [{ path: await numberOf(A), isFlaky: true, ...price }] }]);
  });

  it.each<[situation: string, second: CiRun]>([
    ['another list', { suite: SUITE.slice(0, 20) }],
    ['another key', { keys: ['1'.repeat(64)] }],
  ])('is not compared with a CI run that had %s', async (_, second) => {
    const { play, kept } = await begin();
    await play({ outcomes: { [A]: 'failed' } });
    await play(second);
    expect(await kept()).toEqual([]);
  });

  it('is not compared with another commit or branch', async () => {
    const { play, kept } = await begin();
    await play({ outcomes: { [A]: 'failed' } });
    for (const other of [{ commit_hash: 'other' }, { branch: 'other' }]) await play(other);
    expect(await kept()).toMatchObject([{ files: [{ isFlaky: false }] }]);
  });

  it('is an outage if many files failed that had not failed before', async () => {
    const { play, kept } = await begin();
    const { parts } = await play();
    const all = Object.fromEntries(parts[1]!.map(path => [path, 'failed']));
    await play({ commit_hash: 'next', outcomes: all });
    expect(await kept()).toMatchObject([{ outages: [{ node_index: null, files: 15 }], files: [] }]);
  });

  it('is kept with how much slower it was, and the names of its test cases, which a later report does not take away', async () => {
    const { server, play, kept, flaky } = await begin();
    const tellCases = (commit_hash: string, ci_build_id: string, outcome: string) =>
      server.post('/v2/test_cases', {
        ...buildKey,
        ...{ commit_hash, node_index: 0, ci_build_id },
        files: [
          {
            path: A,
            seconds: 3,
            cases: ['logs in', 'logs out'].map((name, i) => ({ name, seconds: 1, outcome: i === 0 ? outcome : 'passed' })),
          },
        ],
      });
    for (const [i, commit_hash] of ['f1', 'f2'].entries()) {
      const build = { commit_hash };
      await play({ ...build, outcomes: { [A]: 'failed' }, seconds: 3 });
      expect(await tellCases(commit_hash, String(2 * i + 1), 'failed')).toMatchObject({ status: 200 });
      expect((await kept())[0]).toMatchObject({ files: [{ slowdown: null, cases: ['logs in'] }] });
      await play({ ...build, seconds: 2 });
      await tellCases(commit_hash, String(2 * i + 2), 'passed');
      expect(await kept()).toMatchObject([{ files: [{ slowdown: 1.5, cases: ['logs in'] }] }, ...(i === 0 ? [] : [{}])]);
    }
    expect((await flaky()).files).toMatchObject([
      { path: A, slowdown: 1.5, cases: [{ name: 'logs in', state: 'flaky', flakes: 2, commits: 2 }] },
    ]);
  });

  it('is not kept of clients that tell no outcomes', async () => {
    const { play, kept } = await begin();
    await play({ tells: false });
    expect(await kept()).toEqual([]);
  });
});

describe('a build of a split', () => {
  const answerOf = async (server: TestServer, build = 0) => {
    await server.service.summarize();
    const builds = (await server.get('/v1/build_summaries')).json.builds as { build_id: string; state: string }[];
    const { json } = await server.get(`/v1/builds/${builds[build]!.build_id}/minutes`);
    return { listed: builds[build]!.state, state: json.state, verdict: json.verdict as string };
  };

  it('is red by what its nodes recorded as failed, and the verdict tells whether that is known to be flaky', async () => {
    const { server, play } = await begin();
    await play({ commit_hash: 'f1', outcomes: { [A]: 'failed' } });
    expect(await answerOf(server)).toMatchObject({
      listed: 'failed',
      state: 'failed',
      verdict: expect.stringContaining(`1 test file failed: ${A} `) as string,
    });
    await play({ commit_hash: 'f1' });
    await play({ commit_hash: 'f2', outcomes: { [A]: 'failed' } });
    const { state, verdict } = await answerOf(server);
    expect([state, verdict]).toEqual(['failed', expect.stringContaining('It is known to be flaky: run it again.')]);
  });

  it('is complete if every client says that none failed, or that what failed is muted', async () => {
    const { server, play } = await begin();
    await play({ commit_hash: 'c1' });
    expect(await answerOf(server)).toMatchObject({ listed: 'complete', state: 'complete' });
    await play({ commit_hash: 'c2', outcomes: { [A]: 'muted' } });
    expect(await answerOf(server)).toMatchObject({ state: 'complete', verdict: expect.stringContaining('(muted)') as string });
  });

  it('is not known to be complete if one client does not tell, and is red if another one does', async () => {
    const { server } = await begin();
    for (const [commit_hash, outcome, state] of [
      ['c1', undefined, 'recorded'],
      ['c2', 'failed', 'failed'],
    ] as const) {
      const parts = [0, 1].map(node_index => startSplit(server, SUITE, { node_index, commit_hash, ci_build_id: '1' }));
      for (const [node_index, reply] of (await Promise.all(parts)).entries()) {
        const test_files = (reply.json.test_files as { path: string }[]).map(({ path }, i) => ({
          path,
          time_execution: 1,
          ...(i === 0 && outcome && node_index === 0 && { outcome }),
        }));
        await record(server, { node_index, commit_hash, ci_build_id: '1', tells_outcomes: node_index === 0, test_files });
      }
      expect(await answerOf(server)).toMatchObject({ state });
    }
  });

  it('misses the files that no node recorded, whatever the others tell', async () => {
    const { server } = await begin();
    const [mine] = await Promise.all([0, 1].map(node_index => startSplit(server, SUITE, { node_index, ci_build_id: '1' })));
    const test_files = (mine!.json.test_files as { path: string }[]).slice(1).map(({ path }) => ({ path, time_execution: 1 }));
    for (const node_index of [0, 1])
      await record(server, { node_index, ci_build_id: '1', tells_outcomes: true, test_files: node_index === 0 ? test_files : [] });
    expect(await answerOf(server)).toMatchObject({ state: 'missing' });
  });
});

describe('GET /v1/flaky', () => {
  const GREEN = (commit_hash: string) => ({ commit_hash });

  it('lists flaky files with their rate, their price and their builds, as the requests say', async () => {
    const { clock, server, play, flaky } = await begin();
    await server.store.access.replaceSettings(1, noSettings, { ...noSettings, price: { amount: 6, currency: 'USD' } });
    const began = clock.now();
    for (let i = 0; i < 7; i++) await play(GREEN(`c${i}`));
    const flake = { commit_hash: 'f1', outcomes: { [A]: 'failed', [B]: 'failed' } };
    await play(flake);
    clock.advance({ seconds: 540 });
    await play(GREEN('f1'));
    await play({ commit_hash: 'f2', outcomes: { [A]: 'flaky' } });
    const { files, ...rest } = await flaky();
    const builds = (await server.get('/v1/builds')).json.data as { id: string; commit_hash: string }[];
    const idOf = (commit: string) => builds.find(({ commit_hash }) => commit_hash === commit)!.id;
    const recent = { days: 30, builds: 2, seconds: 30, later: 600 };
    expect(rest).toEqual({ since: expect.any(String) as string, tells_outcomes: true, file_count: 2, recent, outages: [] });
    // A CI run of 30 seconds was needed for both: 15 seconds, and 5 of 10 minutes, of each. What the test runner tried again has no time.
    const price = { seconds: 15, cost: { amount: 1.5, currency: 'USD' }, later: 300 };
    expect(files).toMatchObject([
      { path: A, state: 'flaky', flakes: 2, commits: 2, ...price, last: { build_id: idOf('f2'), commit_hash: 'f2', branch: 'main' } },
      { path: B, state: 'suspected', flakes: 1, commits: 1, ...price, last: { build_id: idOf('f1'), commit_hash: 'f1' } },
    ]);
    const age = (commit: string) => Date.parse(files.find(({ last }) => last.commit_hash === commit)!.last.at);
    // 9 builds on one day, which count half after 14 days.
    const weight = (at: number) => 2 ** ((at - clock.now()) / (14 * 86_400_000));
    const n = 9 * weight(began);
    expect(files[0]!.rate).toBeCloseTo((weight(age('f1')) + weight(age('f2')) + 0.5) / (n + 1), 3);
    expect(files[1]!.rate).toBeCloseTo((weight(age('f1')) + 0.5) / (n + 1), 3);
    for (const { rate, low, high, failing_since } of files) expect([low < rate, rate < high, failing_since]).toEqual([true, true, null]);
    expect(await flaky('?limit=1')).toMatchObject({ files: files.slice(0, 1), recent });
    // A day begins at 00:00 UTC.
    clock.advance({ days: 29 });
    expect((await flaky()).recent).toEqual(recent);
    expect((await flaky('?days=29')).recent).toEqual({ days: 29, builds: 0, seconds: 0, later: 0 });
    clock.advance({ days: 1 });
    expect((await flaky()).recent).toEqual({ days: 30, builds: 0, seconds: 0, later: 0 });
  });

  it('heals a file that is clean for long enough, and lists it last', async () => {
    const { clock, play, flaky } = await begin();
    for (let i = 0; i < 4; i++) await play(GREEN(`c${i}`));
    await play({ commit_hash: 'f1', outcomes: { [A]: 'failed' } });
    await play(GREEN('f1'));
    await play({ commit_hash: 'f2', outcomes: { [B]: 'flaky' } });
    const stateOfA = async () =>
      (await flaky()).files.map(({ path, state, clean }) => ({ path, state, clean })).find(({ path }) => path === A)!;
    expect(await stateOfA()).toEqual({ path: A, state: 'suspected', clean: { builds: 0, of: 14 } });
    clock.advance({ days: 1 });
    for (let i = 0; i < 5; i++) await play(GREEN(`d${i}`));
    expect(await stateOfA()).toMatchObject({ state: 'healing', clean: { builds: 5, of: 14 } });
    for (let i = 0; i < 9; i++) await play({ commit_hash: `e${i}`, ...(i === 8 && { outcomes: { [B]: 'flaky' } }) });
    expect(await stateOfA()).toMatchObject({ state: 'healed', clean: { builds: 14, of: 14 } });
    expect((await flaky()).files.map(({ path }) => path)).toEqual([B, A]);
  });

  it('tells since when a file fails on the default branch, until it passes', async () => {
    const { play, flaky } = await begin();
    const broken = { outcomes: { [C]: 'failed' } };
    await play(GREEN('c0'));
    await play({ commit_hash: 'c1', ...broken });
    await play({ commit_hash: 'x', branch: 'other', ...broken });
    expect((await flaky()).files).toEqual([]);
    await play({ commit_hash: 'c2', ...broken });
    await play({ commit_hash: 'c3', ...broken });
    const failing = {
      path: C,
      state: 'failing',
      flakes: 0,
      clean: null,
      seconds: 0,
      failing_since: { commit_hash: 'c1' },
      last: { commit_hash: 'c3' },
    };
    expect((await flaky()).files).toMatchObject([failing]);
    await play(GREEN('c4'));
    expect((await flaky()).files).toEqual([]);
  });

  it('shows an outage as one, and lists none of its files', async () => {
    const { play, flaky } = await begin();
    const { parts } = await play(GREEN('c0'));
    await play({ commit_hash: 'c1', outcomes: Object.fromEntries(parts[1]!.map(path => [path, 'failed'])) });
    await play(GREEN('c1'));
    const { files, outages } = await flaky();
    expect(files).toEqual([]);
    expect(outages).toMatchObject([{ commit_hash: 'c1', branch: 'main', node_index: null, files: 15 }]);
  });

  it('says that the clients do not tell what failed', async () => {
    const { play, flaky } = await begin();
    const recent = { days: 30, builds: 0, seconds: 0, later: 0 };
    expect(await flaky()).toEqual({ since: null, tells_outcomes: false, files: [], file_count: 0, recent, outages: [] });
    await play({ tells: false });
    expect(await flaky()).toMatchObject({ tells_outcomes: false, files: [] });
    await play();
    expect(await flaky()).toMatchObject({ tells_outcomes: true, files: [] });
  });

  it('refuses a limit that is none, and has nothing of other projects', async () => {
    const { server, play } = await begin();
    await play({ outcomes: { [A]: 'flaky' } });
    await server.service.summarize();
    expect(await server.get('/v1/flaky?limit=1001')).toMatchObject({ status: 422 });
    const { token } = await createProject(server.store.access, 'other', 0);
    expect((await new Client(server.url, token).get('/v1/flaky')).json).toMatchObject({ files: [], outages: [] });
  });
});
