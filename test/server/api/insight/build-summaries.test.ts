import { describe, expect } from 'vitest';
import type { BuildLine } from '../../../../src/protocol/answers/trends.js';
import type { Client } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import { buildKey, initialise, pullAll, record, timedTestFiles, uuidPattern } from '../../../harness/messages.js';
import { recordRun } from '../../../harness/recording.js';
import { SharedServer, startServer, testsWith } from '../../../harness/server.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';

const shared = new SharedServer();
const it = testsWith(shared);

const list = async (client: Client, query = '') => (await client.get(`/v1/build_summaries${query}`)).json;
const commits = (builds: BuildLine[]) => builds.map(({ commit_hash }) => commit_hash);

/** Records builds of the commits c0, c1, ..., each of one run. */
async function recordBuilds(client: Client, count: number, branchOf: (i: number) => string = () => 'main'): Promise<void> {
  for (let i = 0; i < count; i++) await record(client, { commit_hash: `c${i}`, branch: branchOf(i), node_total: 1 });
}

describe('GET /build_summaries', () => {
  it('has a line for each build, with its summary once that is written', async ({ server }) => {
    await record(server, { test_files: timedTestFiles({ 'a_spec.rb': 30, 'b_spec.rb': 6 }) });
    await record(server, { node_index: 1, test_files: timedTestFiles({ 'c_spec.rb': 34 }) });
    const before = await list(server);
    const line = {
      build_id: expect.stringMatching(uuidPattern),
      ci_run_id: null,
      ci_run: null,
      ...buildKey,
      created_at: expect.any(String),
      started_at: expect.any(String),
    };
    expect(before).toEqual({
      builds: [{ ...line, is_running: true, state: 'running', summary: null }],
      next: null,
      total: 1,
      searched_to: null,
      similar: null,
    });
    await shared.summarize();
    const { builds } = await list(server);
    expect(builds).toMatchObject([{ ...line, is_running: false, state: 'unplanned' }]);
    expect(builds[0].summary).toMatchObject({ kind: 'recordings', files: 3, failed: null, missing: 0 });
    expect(builds[0].summary.longest).toEqual({ path: 'c_spec.rb', seconds: 34 });
    expect(builds[0].summary.wall).toBeCloseTo(36, 0);
    // It began when its first file did.
    expect((Date.parse(builds[0].created_at) - Date.parse(builds[0].started_at)) / 1000).toBeCloseTo(36, 0);
  });

  it('sorts what it finds by a key of the lines, and says how far it searched', async ({ server }) => {
    for (const [i, seconds] of [30, 10, 50, 20].entries()) {
      const test_files = timedTestFiles({ 'a_spec.rb': seconds });
      await record(server, { commit_hash: `c${i}`, branch: i === 3 ? 'next' : 'main', node_total: 1, test_files });
    }
    await shared.summarize();
    expect(commits((await list(server, '?sort=-wall')).builds)).toEqual(['c2', 'c0', 'c3', 'c1']);
    expect(commits((await list(server, '?sort=wall&branch=main')).builds)).toEqual(['c1', 'c0', 'c2']);
    expect(await list(server, '?sort=-wall&limit=2')).toMatchObject({ builds: [{}, {}], next: null, total: 4, searched_to: null });
    // The longest began first: all were recorded at once.
    expect(commits((await list(server, '?sort=started')).builds)[0]).toBe('c2');
    expect(await list(server, '?sort=-wall&failed=true')).toMatchObject({ builds: [], next: null, searched_to: null });
    expect((await server.get('/v1/build_summaries?sort=colour')).status).toBe(422);
    expect((await server.get('/v1/build_summaries?sort=wall&cursor=1')).status).toBe(422);
  });

  it('has only the builds of some days', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    const days: string[] = [];
    for (let i = 0; i < 5; i++) {
      days.push(new Date(clock.millis).toISOString().slice(0, 10));
      await record(server, { commit_hash: `c${i}`, node_total: 1 });
      clock.advance({ days: 1 });
    }
    const found = async (query: string) => commits((await list(server, query)).builds);
    expect(await found(`?from=${days[1]}&to=${days[3]}`)).toEqual(['c3', 'c2', 'c1']);
    expect(await found(`?from=${days[4]}`)).toEqual(['c4']);
    expect(await found(`?to=${days[0]}`)).toEqual(['c0']);
    expect(await found(`?from=${days[2]}&to=${days[2]}&sort=-wall`)).toEqual(['c2']);
    expect(await found('?to=2020-01-01')).toEqual([]);
    expect(await found('?from=2030-01-01')).toEqual([]);
    const { builds, next } = await list(server, `?from=${days[1]}&limit=2`);
    expect(commits(builds)).toEqual(['c4', 'c3']);
    expect(await found(`?from=${days[1]}&limit=2&cursor=${next}`)).toEqual(['c2', 'c1']);
    for (const query of ['from=2026-02-30', 'to=yesterday', `from=${days[2]}&to=${days[1]}`])
      expect((await server.get(`/v1/build_summaries?${query}`)).status, query).toBe(422);
  });

  it('shows first the CI runs that have begun and recorded nothing', async ({ server }) => {
    await record(server, { commit_hash: 'recorded' });
    await initialise(server, ['a_spec.rb', 'b_spec.rb'], { commit_hash: 'running', branch: 'next', node_build_id: 'ci-7' });
    const running = { build_id: null, ci_run_id: expect.stringMatching(uuidPattern), ci_run: 'ci-7', is_running: true, summary: null };
    expect((await list(server)).builds).toMatchObject([{ commit_hash: 'running', ...running }, { commit_hash: 'recorded' }]);
    expect(commits((await list(server, '?branch=next')).builds)).toEqual(['running']);
    for (const query of ['?branch=main', '?node_total=3', '?failed=true', '?commit_hash=x'])
      expect(commits((await list(server, query)).builds)).not.toContain('running');
    for (const node_index of [0, 1]) {
      const key = { commit_hash: 'running', branch: 'next', node_build_id: 'ci-7', node_index };
      await pullAll(server, key);
      await record(server, { ...key, ci_build_id: 'ci-7' });
    }
    const { builds, total } = await list(server);
    expect(builds).toMatchObject([{ commit_hash: 'running', ci_run: 'ci-7' }, { commit_hash: 'recorded' }]);
    expect([total, builds[0].build_id]).toEqual([2, expect.stringMatching(uuidPattern)]);
  });

  it('shows where it began a CI run that has ended and recorded nothing', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    const begin = (commit_hash: string) => initialise(server, ['a_spec.rb', 'b_spec.rb'], { commit_hash, node_build_id: commit_hash });
    await record(server, { commit_hash: 'before' });
    clock.advance({ seconds: 1 });
    await begin('silent');
    clock.advance({ seconds: 1 });
    await record(server, { commit_hash: 'after' });
    await begin('after');
    clock.advance({ seconds: 600 });
    await server.service.summarize();
    const running = { is_running: true, summary: null };
    expect((await list(server)).builds).toMatchObject([
      { commit_hash: 'after', build_id: expect.any(String), ...running },
      { commit_hash: 'silent', build_id: null, ...running },
      { commit_hash: 'before' },
    ]);
    clock.advance({ seconds: 3000 });
    await server.service.summarize();
    const ended = { is_running: false, summary: { kind: 'queue', files: 2, missing: 2 } };
    const silent = { commit_hash: 'silent', build_id: null, ...ended };
    const { builds, total } = await list(server);
    expect(builds).toMatchObject([{ commit_hash: 'after', build_id: expect.any(String), ...ended }, silent, { commit_hash: 'before' }]);
    expect(total).toBe(2);
    const first = await list(server, '?limit=1');
    expect([commits(first.builds), commits((await list(server, `?limit=1&cursor=${first.next}`)).builds)]).toEqual([
      ['after'],
      ['silent', 'before'],
    ]);
    expect([commits((await list(server, '?failed=true')).builds), commits((await list(server, '?branch=x')).builds)]).toEqual([[], []]);
    expect((await server.get(`/v1/builds/${builds[1].ci_run_id}/minutes`)).json).toMatchObject({ missing_count: 2, is_running: false });
    expect((await server.get('/v1/trends/builds')).json.days.at(-1)).toMatchObject({ builds: 2, incomplete: 2 });
  });

  it('is read in parts, each build once, also while builds are recorded', async ({ server }) => {
    await recordBuilds(server, 25, i => (i % 5 === 0 ? 'next' : 'main'));
    const seen: string[] = [];
    for (let query = '?limit=4&branch=main'; ; ) {
      const { builds, next, total } = await list(server, query);
      seen.push(...commits(builds));
      expect(builds.length).toBe(seen.length === total ? total % 4 || 4 : 4);
      if (seen.length === 8) await record(server, { commit_hash: 'later', branch: 'next' });
      if (next === null) break;
      query = `?limit=4&branch=main&cursor=${next}`;
    }
    const all = Array.from({ length: 25 }, (_, i) => 24 - i).filter(i => i % 5 !== 0);
    expect(seen).toEqual(all.map(i => `c${i}`));
    const similar = { branches: [], commit_hashes: null, searched: 26 };
    expect(await list(server, '?branch=none')).toEqual({ builds: [], next: null, total: 0, searched_to: null, similar });
  });

  it('that finds nothing has names that contain the branch or begin with the hash', async ({ server }) => {
    const builds = [
      ['4d5e6f01', 'feature/login'],
      ['4d5e6f02', 'Feature/x'],
      ['4d5eaaaa', 'main'],
      ['99999999', 'main'],
    ] as const;
    for (const [commit_hash, branch] of builds) await record(server, { commit_hash, branch });
    await initialise(server, ['a_spec.rb'], { commit_hash: '4d5ebbbb', branch: 'a-feature' });
    const similar = async (query: string) => {
      const { similar } = await list(server, query);
      return similar && [similar.branches, similar.commit_hashes, similar.searched];
    };
    expect(await similar('?branch=feature')).toEqual([['a-feature', 'Feature/x', 'feature/login'], null, 4]);
    expect(await similar('?commit_hash=4D5E6F0')).toEqual([null, ['4d5e6f02', '4d5e6f01'], 4]);
    // Only what the rest of the filter finds.
    expect(await similar('?commit_hash=4d5e&branch=main')).toEqual([null, ['4d5eaaaa'], 2]);
    expect(await similar('?branch=feature&node_total=99')).toEqual([[], null, 0]);
    // Both names are known, and no build has both.
    expect(await similar('?branch=main&commit_hash=4d5e6f01')).toBe(null);
    expect(await similar('?branch=main')).toBe(null);
  });

  it('finds builds with failures, and says how far it has searched', async ({ server }) => {
    const { store } = shared;
    await recordBuilds(server, 30);
    await shared.summarize();
    for (const commit_hash of ['c3', 'c20', 'c21']) {
      const build = (await store.builds.find(server.id, { commit_hash, branch: 'main', node_total: 1 }))!;
      const summary = (await store.summaries.get(build.number))!;
      await store.summaries.put(build, { ...summary, line: { ...summary.line, failed: 2 } });
    }
    const first = await list(server, '?failed=true&limit=2');
    expect([commits(first.builds), first.total, first.searched_to]).toEqual([['c21', 'c20'], 30, first.builds[1].created_at]);
    const second = await list(server, `?failed=true&limit=2&cursor=${first.next}`);
    expect([commits(second.builds), second.next, second.searched_to]).toEqual([['c3'], null, null]);
    expect(second.builds[0].summary.failed).toBe(2);
  });

  it('has its summary written again when the last process was killed before', async ({ server }) => {
    await record(server);
    await shared.summarize();
    const { store } = shared;
    const build = (await store.builds.find(server.id, buildKey))!;
    const summary = (await store.summaries.get(build.number))!;
    await store.summaries.put(build, { ...summary, recorded: 0, line: { ...summary.line, files: 99 } });
    expect((await list(server)).builds[0].summary.files).toBe(99);
    await shared.summarize();
    expect((await list(server)).builds[0].summary.files).toBe(2);
  });

  it('searches 500 builds at most in one request', async ({ server }) => {
    const node = (i: number) => ({ commit_hash: `c${i}`, branch: 'main', node_total: 1, node_index: 0 });
    await Promise.all(Array.from({ length: 520 }, (_, i) => recordRun(shared.store, server.id, node(i), [], Date.now())));
    const first = await list(server, '?failed=true');
    expect([first.builds, first.next]).toEqual([[], expect.any(String)]);
    expect(Date.parse(first.searched_to)).toBeLessThanOrEqual(Date.now());
    const second = await list(server, `?failed=true&cursor=${first.next}`);
    expect([second.builds, second.next, second.searched_to]).toEqual([[], null, null]);
  });
});

describe('summaries on disk', () => {
  it('are written by a worker thread, survive a restart, and are found missing by the next start', async () => {
    const folder = temporaryFolder();
    const first = await startServer({ dataDir: folder, workers: '1' });
    await initialise(first, ['a_spec.rb', 'b_spec.rb'], { node_build_id: 'ci-1', node_total: 1 });
    await pullAll(first, { node_build_id: 'ci-1', node_total: 1 });
    await record(first, { node_total: 1, test_files: timedTestFiles({ 'a_spec.rb': 1, 'b_spec.rb': 2 }) });
    await first.service.summarize();
    const { summary } = (await list(first)).builds[0];
    expect(summary).toMatchObject({ kind: 'queue', files: 2, missing: 0, longest: { path: 'b_spec.rb', seconds: 2 } });
    await record(first, { commit_hash: 'unsummarized', node_total: 1 });
    await first.close();
    const second = await startServer({ dataDir: folder });
    expect((await list(second)).builds[1].summary).toEqual(summary);
    await second.service.summarize();
    expect((await list(second)).builds[0]).toMatchObject({ commit_hash: 'unsummarized', summary: { kind: 'recordings' } });
    expect((await second.get('/v1/trends/files')).json).toMatchObject({ builds: 2, file_count: 2 });
    expect((await second.get('/v1/trends/builds')).json.days).toMatchObject([{ builds: 2 }]);
    expect((await second.get('/v1/trends/files/history?path=b_spec.rb')).json.points).toHaveLength(2);
    expect((await second.get('/v1/trends/nodes?node_total=1')).json.builds).toHaveLength(2);
  });
});
