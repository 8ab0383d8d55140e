import { describe, expect } from 'vitest';
import type { Client } from '../../../harness/client.js';
import {
  buildKey,
  initialise,
  manyPaths,
  newestBuild,
  pathsIn,
  pull,
  record,
  startSplit,
  timedTestFiles,
} from '../../../harness/messages.js';
import { SharedServer, testsWith } from '../../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);

/** Records a build of its own with these seconds by path. */
const build = (client: Client, commit_hash: string, seconds: Record<string, number>, more: object = {}) =>
  record(client, { commit_hash, test_files: timedTestFiles(seconds), ...more });

/** The address of the newest build. */
async function newest(client: Client): Promise<string> {
  return `/v1/builds/${await newestBuild(client)}/why`;
}

/** Reads the basis of each estimate of the newest build. */
async function basesOf(client: Client): Promise<Record<string, object>> {
  const { batches } = (await client.get(await newest(client))).json;
  return Object.fromEntries(
    batches.flatMap(({ files }: any) => files.map(({ path, estimate, source, count }: any) => [path, { estimate, source, count }])),
  );
}

describe('GET /builds/:id/why', () => {
  it('explains each batch of a queue, as it was known when the batch was handed out', async ({ server }) => {
    await build(server, 'c0', { 'a_spec.rb': 40, 'b_spec.rb': 30, 'c_spec.rb': 20, 'd_spec.rb': 10 });
    const handed = pathsIn(await initialise(server, ['a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb']));
    await build(server, 'c1', { 'b_spec.rb': 300 });
    await record(server, { test_files: timedTestFiles({ 'a_spec.rb': 44 }), ci_build_id: '100' });
    const { status, json } = await server.get(await newest(server));
    expect(status).toBe(200);
    expect(json).toMatchObject({ kind: 'queue', ci_run: '100', commit_hash: 'c0ffee1', node_total: 2, batch_count: 1 });
    const decision = { remaining: 100, finish_in: 52, speed: 1, slowdown: 1, share: 50, target: 30, pull_cost: 2 };
    expect(json.batches).toMatchObject([{ batch: 0, node_index: 0, decision, file_count: handed.length }]);
    expect(json.batches[0].reason).toBe(
      '1 m 40 s of work was left for up to 2 nodes, so all would finish in 52 s. Node 0 would do 50 s of that work; ' +
        'it got 0.6 of its share, 30 s, so that later batches can correct errors. Its one file is longer than that, 40 s: a batch has at least one file.',
    );
    const spread = expect.closeTo(1.297, 2) as number;
    expect(json.batches[0].files).toEqual([{ path: 'a_spec.rb', estimate: 40, source: 'branch', count: 1, spread, seconds: 44 }]);
  });

  it('names the source of each estimate, and the builds that measured it', async ({ server }) => {
    const [main, feature, other] = [{}, { branch: 'feature' }, { branch: 'other' }];
    for (const commit of ['m1', 'm2', 'm3']) await build(server, commit, { 'own_spec.rb': 8, 'main_spec.rb': 7, 'd/x.rb': 1 }, main);
    await build(server, 'm4', { 'cases_spec.rb[1:1]': 2, 'cases_spec.rb[1:2]': 3, 'whole_spec.rb': 6, 'd/y.rb': 2, 'd/z.rb': 3 }, main);
    await build(server, 'f1', { 'own_spec.rb': 9 }, feature);
    await build(server, 'o1', { 'other_spec.rb': 5 }, other);
    const listed = ['own_spec.rb', 'main_spec.rb', 'other_spec.rb', 'cases_spec.rb', 'whole_spec.rb[1:1]', 'd/new.rb', 'e/new.rb'];
    const request = { ...feature, node_total: 1, commit_hash: 'f2' };
    const bases = {
      'own_spec.rb': { estimate: 9, source: 'branch', count: 1 },
      'main_spec.rb': { estimate: 7, source: 'default_branch', count: 3 },
      'other_spec.rb': { estimate: 5, source: 'other_branch', count: 1 },
      'cases_spec.rb': { estimate: 5, source: 'cases', count: 1 },
      'whole_spec.rb[1:1]': { estimate: 6, source: 'file', count: 0 },
      // Of the files in d that are listed, none is known.
      'd/new.rb': { estimate: 9, source: 'suite', count: 0 },
      'e/new.rb': { estimate: 9, source: 'suite', count: 0 },
    };
    await initialise(server, listed, request);
    await record(server, { ...request, test_files: [] });
    expect(await basesOf(server)).toEqual(bases);
    const split = { ...request, commit_hash: 'f3', ci_build_id: '7', fixed_test_suite_split: false };
    await startSplit(server, [...listed, 'd/x.rb', 'd/y.rb', 'd/z.rb'], split);
    await record(server, { ...split, test_files: [] });
    const { 'd/x.rb': known, 'd/new.rb': guessed, 'own_spec.rb': own } = await basesOf(server);
    expect([known, guessed, own]).toEqual([
      { estimate: 1, source: 'default_branch', count: 3 },
      { estimate: 3, source: 'directory', count: 0 },
      { estimate: 9, source: 'branch', count: 1 },
    ]);
  });

  it('says that nothing was measured, and stays as it was when it is', async ({ server }) => {
    await startSplit(server, ['a_spec.rb', 'b_spec.rb']);
    await record(server, { test_files: timedTestFiles({ 'a_spec.rb': 5 }) });
    expect(await basesOf(server)).toEqual({
      'a_spec.rb': { estimate: 1, source: 'none', count: 0 },
      'b_spec.rb': { estimate: 1, source: 'none', count: 0 },
    });
    const { batches } = (await server.get(`${await newest(server)}?node_index=1`)).json;
    expect(batches).toMatchObject([{ batch: null, node_index: 1, decision: null, file_count: 1 }]);
    expect(batches[0].reason).toContain('Node 1 got 1.0 s of work; the mean of the 2 nodes is 1.0 s.');
  });

  it('explains the batches of a node, one batch, or another CI run', async ({ server }) => {
    await initialise(server, manyPaths(40));
    for (const node_index of [1, 0, 1]) await pull(server, { node_index });
    await initialise(server, manyPaths(3), { node_build_id: '101' });
    await record(server, { test_files: [] });
    const url = await newest(server);
    const batches = async (query: string) =>
      (await server.get(`${url}?${query}`)).json.batches.map((told: any) => [told.batch, told.node_index]);
    expect(await batches('')).toEqual([[0, 0]]);
    const first = (await shared.store.ciRuns.ofBuild(server.id, buildKey)).at(-1)!;
    expect((await batches(`ci_run=${first.id}`)).length).toBe(4);
    expect(await batches(`ci_run=${first.id}&node_index=1`)).toEqual([
      [1, 1],
      [3, 1],
    ]);
    expect(await batches(`ci_run=${first.id}&batch=2&node_index=`)).toEqual([[2, 0]]);
    expect((await server.get(`/v1/builds/${first.id}/why`)).json.batches).toHaveLength(4);
  });
});
