import { describe, expect } from 'vitest';
import type { Client } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import { record, timedTestFiles, uuidPattern } from '../../../harness/messages.js';
import { QueueNode } from '../../../harness/queue-node.js';
import { SharedServer, testsWith } from '../../../harness/server.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });
const it = testsWith(shared);
const DAY = 86_400;

/** A build of one node for each of these times by path, a day apart when there is a clock. */
async function recordBuilds(client: Client, builds: readonly Readonly<Record<string, number>>[], clock?: Clock, branch = 'main') {
  for (const [i, seconds] of builds.entries()) {
    await record(client, { commit_hash: `c${i}`, branch, node_total: 1, test_files: timedTestFiles(seconds) });
    clock?.advance({ days: 1 });
  }
}

const get = async (client: Client, path: string) => (await client.get(`/v1/trends/${path}`)).json;

describe('GET /trends/builds', () => {
  it('adds the builds of each day up, oldest first, without days that have none', async ({ server }) => {
    clock.advance({ seconds: DAY / 2 });
    await recordBuilds(server, [{ 'a_spec.rb': 10 }, { 'a_spec.rb': 20 }]);
    clock.advance({ days: 2 });
    await recordBuilds(server, [{ 'a_spec.rb': 30 }], undefined, 'next');
    await shared.summarize();
    const { branch, days } = await get(server, 'builds');
    expect([branch, days.map((day: any) => [day.day, day.builds])]).toEqual([
      null,
      [
        ['2026-01-01', 2],
        ['2026-01-03', 1],
      ],
    ]);
    expect(days.map((day: any) => day.median_wall)).toEqual([15, 30]);
    expect((await get(server, 'builds?branch=next')).days).toHaveLength(1);
    expect((await get(server, 'builds?from=2026-01-02&to=2026-01-02')).days).toEqual([]);
    expect((await get(server, 'builds?to=2026-01-01')).days).toHaveLength(1);
    expect((await get(server, 'builds?from=2024-12-02&to=2026-01-05')).days, '400 days').toHaveLength(2);
    const weeks = (await get(server, 'builds?by=week')).days;
    expect(weeks).toMatchObject([{ day: '2025-12-29', builds: 3, wall: 20 }]);
    const range = await get(server, 'builds?by=range&days=3&to=2026-01-03');
    const all = { builds: 3, wall: 20, median_wall: 20, jobs: 3, job_seconds: 60, median_test_seconds: 20 };
    expect(range).toMatchObject({ from: '2026-01-01', to: '2026-01-03', days: [{ day: '2026-01-01', ...all }] });
    expect((await server.get('/v1/trends/builds?days=3&from=2026-01-01')).json).toEqual({
      errors: [{ days: ['must not come with from'] }],
    });
  });
});

describe('GET /trends/files', () => {
  it('has the files of the default branch, those that the next build expects to take longest first', async ({ server }) => {
    const times = Array.from({ length: 12 }, (_, i) => ({
      'steady_spec.rb': 10,
      'grew_spec.rb': i < 8 ? 2 : 20,
      'seldom_spec.rb': i < 2 ? 1 : 0,
    }));
    await recordBuilds(server, times);
    await recordBuilds(server, [{ 'other_spec.rb': 1 }], undefined, 'next');
    const trends = await get(server, 'files');
    expect(trends).toMatchObject({ branch: 'main', builds: 12, total: expect.closeTo(30, 0), file_count: 3, since: expect.any(String) });
    expect(trends.files.map(({ path }: any) => path)).toEqual(['grew_spec.rb', 'steady_spec.rb', 'seldom_spec.rb']);
    expect(trends.files[1]).toEqual({
      path: 'steady_spec.rb',
      estimate: 10,
      median: 10,
      last: 10,
      spread: 1,
      share: expect.closeTo(10 / 30, 1),
      builds: 12,
      decided: expect.any(Number),
      change: null,
      recent: Array(12).fill(10),
    });
    const grew = { estimate: expect.closeTo(20, 0), median: 2, last: 20, change: { commit_hash: 'c8', factor: 10, seconds: 18 } };
    expect(trends.files[0]).toMatchObject(grew);
    expect(await get(server, 'files/history?path=grew_spec.rb')).toMatchObject({ estimate: grew.estimate, median: 2 });
    // The last builds did not have it, so the next one will not.
    expect(trends.files[2]).toMatchObject({ estimate: null, median: 1, share: 0, builds: 2, recent: [1, 1, ...Array(10).fill(null)] });
    expect(await get(server, 'files?branch=next')).toMatchObject({ branch: 'next', builds: 1, file_count: 1 });
  });

  it('sorts, searches and pages', async ({ server }) => {
    const times = (i: number) => ({
      'spec/Large_spec.rb': i % 2 === 0 ? 100 : 130,
      'spec/small_spec.rb': i % 2 === 0 ? 0.1 : 0.5,
      'grew_spec.rb': i < 10 ? 5 : 8,
      'shrank_spec.rb': i < 10 ? 50 : 20,
    });
    await recordBuilds(
      server,
      Array.from({ length: 20 }, (_, i) => times(i)),
    );
    const paths = async (query: string) => (await get(server, `files?${query}`)).files.map(({ path }: any) => path);
    expect(await paths('sort=path')).toEqual(['grew_spec.rb', 'shrank_spec.rb', 'spec/Large_spec.rb', 'spec/small_spec.rb']);
    expect(await paths('sort=growth')).toEqual(['grew_spec.rb', 'spec/Large_spec.rb', 'spec/small_spec.rb', 'shrank_spec.rb']);
    expect((await paths('sort=spread'))[0]).toBe('spec/Large_spec.rb');
    expect(await paths('path=SPEC/')).toEqual(['spec/Large_spec.rb', 'spec/small_spec.rb']);
    expect(await paths('sort=path&limit=2&offset=1')).toEqual(['shrank_spec.rb', 'spec/Large_spec.rb']);
    expect(await get(server, 'files?path=spec/&limit=1&offset=9')).toMatchObject({ files: [], file_count: 2 });
  });

  it('has the slowest first of the files that decided as many builds', async ({ server }) => {
    await recordBuilds(server, [{ 'fast_spec.rb': 1, 'slow_spec.rb': 3, 'usual_spec.rb': 2 }]);
    const { files } = await get(server, 'files?sort=decided');
    const undecided = files.filter(({ decided }: any) => decided === 0).map(({ median }: any) => median);
    expect(undecided.length).toBeGreaterThanOrEqual(2);
    expect(undecided).toEqual(undecided.toSorted((a: number, b: number) => b - a));
  });
});

describe('GET /trends/files/history', () => {
  it('has the times of a file with the estimate before each, and where it changed', async ({ server }) => {
    const at = new Date(clock.millis).toISOString();
    await recordBuilds(
      server,
      Array.from({ length: 16 }, (_, i) => ({ 'a_spec.rb': i < 10 ? 4 : 9, 'b_spec.rb': 1 })),
      clock,
    );
    await recordBuilds(server, [{ 'b_spec.rb': 1 }], clock);
    const history = await get(server, 'files/history?path=a_spec.rb');
    const { points, changes } = history;
    expect([history.path, history.branch, points.length, history.decided]).toEqual(['a_spec.rb', 'main', 16, []]);
    expect(points[0]).toEqual({
      build_id: expect.stringMatching(uuidPattern),
      commit_hash: 'c0',
      at,
      node_index: 0,
      seconds: 4,
      estimate: null,
      low: null,
      high: null,
      result: null,
    });
    expect(points[5]).toMatchObject({ seconds: 4, estimate: 4 });
    expect(points[5].low).toBeLessThan(4);
    expect(points[5].high).toBeGreaterThan(4);
    expect(points[10]).toMatchObject({ seconds: 9, estimate: 4 });
    expect(points[15].estimate).toBeGreaterThan(8);
    expect(changes).toEqual([{ at: points[10].at, build_id: points[10].build_id, commit_hash: 'c10', factor: 2.25, before: 4, after: 9 }]);
  });

  it('tells what a cut of the file would save, as What-if plays it', async ({ server }) => {
    await record(server, { node_index: 1, test_files: timedTestFiles({ 'b_spec.rb': 10, 'c_spec.rb': 10 }) });
    clock.advance({ seconds: 40 });
    await record(server, { node_index: 0, test_files: timedTestFiles({ 'long_spec.rb': 60 }) });
    await record(server, { commit_hash: 'running', test_files: timedTestFiles({ 'long_spec.rb': 600 }) });
    await shared.summarize();
    const saves = async (path: string) => (await get(server, `files/history?path=${path}`)).cut_saves;
    expect([await saves('long_spec.rb'), await saves('b_spec.rb')]).toEqual([20, 0]);
    const { cut } = await get(server, 'files/history?path=long_spec.rb');
    expect(cut.pieces).toBe(2);
    const wall = async (query: string) => (await server.get(`/v1/builds/${cut.build_id}/what_if?nodes=2${query}`)).json.variants[0].wall;
    expect((await wall('')) - (await wall('&cut=long_spec.rb'))).toBe(20);
  });

  it('tells in which builds the file failed, also where it has no time', async ({ server }) => {
    const times = { 'a_spec.rb': 2, 'b_spec.rb': 1 };
    const play = async (commit_hash: string, failed: readonly string[], seconds: Record<string, number> = times) => {
      const node = new QueueNode(server, 0, { commit_hash, node_total: 1, test_queue_id: commit_hash });
      await node.start(Object.keys(times));
      while (node.paths.length > 0) await node.next(failed.filter(path => node.paths.includes(path)));
      clock.advance({ seconds: 3 });
      await record(server, { commit_hash, node_total: 1, test_files: timedTestFiles(seconds), ci_build_id: commit_hash });
    };
    await play('c0', ['b_spec.rb']);
    await play('c1', ['a_spec.rb']);
    await play('c2', ['a_spec.rb', 'b_spec.rb'], { ...times, 'a_spec.rb': 0 });
    await play('c3', []);
    await record(server, { commit_hash: 'silent', node_total: 1, test_files: timedTestFiles(times) });
    const { points: before } = await get(server, 'files/history?path=a_spec.rb');
    expect(before.map(({ result }: any) => result)).toEqual([null, null, null, null]);
    await shared.summarize();
    const { points, failed, results } = await get(server, 'files/history?path=a_spec.rb');
    expect(points.map(({ commit_hash, result }: any) => [commit_hash, result])).toEqual([
      ['c0', 'passed'],
      ['c1', 'failed'],
      ['c3', 'passed'],
      ['silent', null],
    ]);
    expect([failed.map(({ commit_hash }: any) => commit_hash), results]).toEqual([['c2', 'c1'], 4]);
    expect(failed[1]).toEqual({ build_id: points[1].build_id, commit_hash: 'c1', at: points[1].at, result: 'failed' });
  });

  it('tells how the file ended where nodes record outcomes: a build in which it failed and passed is flaky', async ({ server }) => {
    const play = async (commit_hash: string, ...outcomes: (string | undefined)[]) => {
      for (const outcome of outcomes) {
        const fields = { commit_hash, node_total: 1, ci_build_id: commit_hash, tells_outcomes: true };
        await record(server, { ...fields, test_files: [{ path: 'a_spec.rb', time_execution: 2, ...(outcome && { outcome }) }] });
        clock.advance({ seconds: 3 });
      }
    };
    await play('passed', undefined);
    await play('failed', 'failed');
    await play('again', 'failed', undefined);
    await play('tried', 'flaky');
    await play('muted', 'muted');
    await play('skipped', 'skipped');
    await shared.summarize();
    const { points, failed, results } = await get(server, 'files/history?path=a_spec.rb');
    const expected = { passed: 'passed', failed: 'failed', again: 'flaky', tried: 'flaky', muted: 'muted', skipped: null };
    expect(Object.fromEntries(points.map(({ commit_hash, result }: any) => [commit_hash, result]))).toEqual(expected);
    expect([failed.map(({ result }: any) => result), results]).toEqual([['muted', 'flaky', 'flaky', 'failed'], 5]);
  });

  it('is empty for a file that the branch or the project never recorded', async () => {
    const [client, other] = [await shared.project(), await shared.project()];
    await recordBuilds(client, [{ 'a_spec.rb': 1 }]);
    const none = { points: [], changes: [], decided: [], failed: [], results: 0, cut: null, cut_saves: null };
    expect(await get(client, 'files/history?path=b_spec.rb')).toMatchObject(none);
    expect(await get(client, 'files/history?path=a_spec.rb&branch=next')).toMatchObject({ branch: 'next', ...none });
    expect(await get(other, 'files/history?path=a_spec.rb')).toMatchObject(none);
  });
});

describe('GET /trends/nodes', () => {
  it('tells a slow runner from chance, over builds with the same number of nodes', async ({ server }) => {
    for (let i = 0; i < 14; i++) await record(server, { commit_hash: `c${i}`, node_total: 3 });
    const { store } = shared;
    await shared.summarize();
    // Which estimates a node had is known of queues and splits only, so the summaries are written here.
    for (const [i, build] of (await store.builds.list(server.id, {}, { limit: 100 })).entries()) {
      const summary = (await store.summaries.get(build.number))!;
      await store.summaries.put(build, {
        ...summary,
        // A server that reads the summary of a running build makes it again.
        state: 'unplanned',
        slowness: [1 - (i % 3) / 100, i === 0 ? null : 1 + (i % 2) / 50, 1.3],
        line: { ...summary.line, last: { node_index: 2, seconds: 3 } },
      });
    }
    const { branch, node_total, builds, nodes } = await get(server, 'nodes?branch=main');
    expect([branch, node_total, builds.length]).toEqual(['main', 3, 14]);
    expect(builds[0].commit_hash).toBe('c0');
    expect(nodes[2]).toEqual({
      node_index: 2,
      slowness: Array(14).fill(1.3),
      median: 1.3,
      is_slow: true,
      slow_builds: 14,
      last_builds: 14,
    });
    expect(nodes[1]).toMatchObject({ is_slow: false, slow_builds: 0, last_builds: 0 });
    expect(nodes[1].slowness.at(-1)).toBeNull();
    expect((await get(server, 'nodes?node_total=4')).builds).toEqual([]);
    // A newer build with another number of nodes, of another branch, changes nothing.
    await record(server, { commit_hash: 'other', branch: 'try', node_total: 5 });
    expect(await get(server, 'nodes')).toMatchObject({
      node_total: 3,
      left_out: 1,
      other_node_totals: [5],
      nodes: [{}, {}, { is_slow: true, slow_builds: 14 }],
    });
    expect(await get(server, 'nodes?branch=main')).toMatchObject({ node_total: 3, left_out: 0 });
  });
});

describe('a trend', () => {
  it.each([
    ['files', { branch: '', builds: 0, since: null, total: 0, files: [], file_count: 0, decided: [] }],
    ['nodes', { branch: null, node_total: 0, builds: [], left_out: 0, other_node_totals: [], nodes: [] }],
  ])('of %s is empty before the first build', async (path, empty) => {
    expect(await get(await shared.project(), path)).toEqual(empty);
  });
});
