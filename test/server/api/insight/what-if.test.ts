import { describe, expect } from 'vitest';
import type { PlanAnswer, WhatIfAnswer } from '../../../../src/protocol/answers/what-if.js';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import type { Client } from '../../../harness/client.js';
import { buildKey, initialise, manyPaths, newestBuild, pullAll, record, testFiles, timedTestFiles } from '../../../harness/messages.js';
import { SharedServer, testsWith } from '../../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);

const seconds = { 'long_spec.rb': 40, ...Object.fromEntries(manyPaths(40).map(path => [path, 2])) };

/** Records a build of two nodes that got their files from a queue. Returns its id. */
async function recordedQueue(client: Client): Promise<string> {
  await record(client, { commit_hash: 'before', node_total: 1, test_files: timedTestFiles(seconds) });
  await initialise(client, Object.keys(seconds));
  const first = await pullAll(client, { node_index: 1 });
  const others = Object.keys(seconds).filter(path => !first.includes(path));
  for (const [node_index, paths] of [others, first].entries()) {
    const times = Object.fromEntries(paths.map(path => [path, seconds[path as keyof typeof seconds]!]));
    await record(client, { node_index, test_files: timedTestFiles(times) });
  }
  return newestBuild(client, '?node_total=2');
}

const whatIf = async (client: Client, id: string, query = ''): Promise<WhatIfAnswer> => {
  const { status, json } = await client.get(`/v1/builds/${id}/what_if${query}`);
  expect(status, JSON.stringify(json)).toBe(200);
  return json as WhatIfAnswer;
};

describe('GET /v1/builds/:id/what_if', () => {
  it('plays the build with each number of nodes', async ({ server }) => {
    const answer = await whatIf(server, await recordedQueue(server), '?nodes=1..4&pull_cost=0&start_spread=0');
    expect(answer).toMatchObject({ kind: 'queue', ...buildKey, is_running: false, longest: { path: 'long_spec.rb', seconds: 40 } });
    expect(answer.assumptions).toMatchObject({ mode: 'queue', start_spread: 0, pull_cost: 0, estimates: 'then', cut: [] });
    expect(answer.variants.map(({ nodes, wall, floor, bound_by_file }) => [nodes, wall, floor, bound_by_file])).toEqual([
      [1, 120, 120, false],
      [2, 60, 60, false],
      [3, 40, 40, false],
      [4, 40, 40, true],
    ]);
    expect(answer.variants[3]!.job_seconds).toBe(120);
    expect(answer.useful_nodes).toBe(3);
    expect(answer.worth_cutting).toEqual([]);
    // The same build again, by the id of its CI run.
    expect(await whatIf(server, answer.ci_run_id!, '?nodes=1..4&pull_cost=0&start_spread=0')).toEqual(answer);
  });

  it('counts the set-up of each node', async ({ server }) => {
    const id = await recordedQueue(server);
    const [free, set] = [await whatIf(server, id, '?nodes=2,4'), await whatIf(server, id, '?nodes=2,4&setup=90')];
    expect(set.variants.map(({ job_seconds }, i) => Math.round(job_seconds - free.variants[i]!.job_seconds))).toEqual([180, 360]);
    expect(set.assumptions).toMatchObject({ setup: 90, sentences: expect.arrayContaining([expect.stringContaining('takes 90 s before')]) });
  });

  it('has one useful number, whatever numbers are asked for', async ({ server }) => {
    const id = await recordedQueue(server);
    const asked = ['', '?nodes=2', '?nodes=1,2', '?nodes=1..4', '?nodes=30', '?nodes=100,200'];
    const answers = await Promise.all(asked.map(query => whatIf(server, id, query)));
    expect(answers.map(({ variants }) => variants.length)).toEqual([16, 1, 2, 4, 1, 2]);
    expect(new Set(answers.map(({ useful_nodes }) => useful_nodes)).size).toBe(1);
  });

  it('costs each job in whole steps of the bill', async ({ server }) => {
    const id = await recordedQueue(server);
    const [none] = (await whatIf(server, id, '?nodes=2&pull_cost=0&start_spread=0')).variants;
    expect(none).toMatchObject({ job_seconds: 120, price: null });
    const settings = { ...noSettings, price: { amount: 0.6, currency: 'USD' }, setup: 10, billing_step: 60 };
    await shared.store.access.replaceSettings(server.id, noSettings, settings);
    const [priced] = (await whatIf(server, id, '?nodes=2&pull_cost=0&start_spread=0')).variants;
    // Each of the two jobs takes 70 s, of which 120 s are paid.
    expect(priced!.price).toEqual({ amount: 2.4, currency: 'USD' });
    const [longer] = (await whatIf(server, id, '?nodes=2&pull_cost=0&start_spread=0&setup=61')).variants;
    expect(longer!.price!.amount).toBe(3.6);
  });

  it('tells which files are worth cutting at the number of nodes of the build', async ({ server }) => {
    await record(server, { node_total: 4, test_files: timedTestFiles(seconds) });
    for (const node_index of [1, 2, 3]) await record(server, { node_total: 4, node_index, test_files: timedTestFiles({ 'x_spec.rb': 1 }) });
    const id = await newestBuild(server);
    const query = '?nodes=2&pull_cost=0&start_spread=0';
    const { worth_cutting, variants, assumptions } = await whatIf(server, id, query);
    expect(variants).toHaveLength(1);
    expect(assumptions).toMatchObject({ mode: 'split', estimates: 'now' });
    expect(worth_cutting).toMatchObject([{ path: 'long_spec.rb', seconds: 40, saves: expect.closeTo(9, 0) }]);
    const cut = await whatIf(server, id, `${query}&cut=long_spec.rb&cut=x_spec.rb`);
    expect(cut.assumptions.cut).toEqual([
      { path: 'long_spec.rb', pieces: 2, is_measured: false },
      { path: 'x_spec.rb', pieces: 2, is_measured: false },
    ]);
    expect(cut.longest!.seconds).toBe(20);
  });

  it('cuts a file into its test cases if these were measured', async ({ server }) => {
    await record(server, { commit_hash: 'cases', test_files: timedTestFiles({ 'a_spec.rb[1:1]': 3, 'a_spec.rb[1:2]': 1 }) });
    await record(server, { node_total: 1, test_files: timedTestFiles({ 'a_spec.rb': 8, 'b_spec.rb': 2 }) });
    const { assumptions, longest } = await whatIf(server, await newestBuild(server, '?node_total=1'), '?cut=a_spec.rb');
    expect(assumptions.cut).toEqual([{ path: 'a_spec.rb', pieces: 2, is_measured: true }]);
    expect(longest).toEqual({ path: 'a_spec.rb', seconds: 6 });
  });

  it('plays a CI run of which nothing is recorded yet with its estimates', async ({ server }) => {
    await record(server, { commit_hash: 'before', node_total: 1, test_files: timedTestFiles(seconds) });
    await initialise(server, Object.keys(seconds));
    const [run] = await shared.store.ciRuns.list(server.id, Infinity, 1);
    const { build_id, kind, variants } = await whatIf(server, run!.id, '?nodes=2&pull_cost=0');
    expect([build_id, kind, variants[0]!.wall]).toEqual([null, 'queue', 60]);
  });

  it('plays a build whose files took no time', async ({ server }) => {
    await record(server, { node_total: 1, test_files: timedTestFiles({ 'a_spec.rb': 0 }) });
    const { variants, worth_cutting } = await whatIf(server, await newestBuild(server), '?nodes=1,2&cut=a_spec.rb&pull_cost=0');
    expect(variants.map(({ wall, ratio }) => [wall, ratio])).toEqual([
      [0, 1],
      [0, 1],
    ]);
    expect(worth_cutting).toEqual([]);
  });

  it('plays numbers up to at least twice that of the build, which is shown beside its own, unless the query names some', async ({
    server,
  }) => {
    const { variants } = await whatIf(server, await recordedQueue(server));
    expect(variants.map(({ nodes }) => nodes)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
    expect(variants.flatMap(({ nodes, measured }) => (measured === null ? [] : [nodes]))).toEqual([2]);
  });
});

describe('POST /v1/plan', () => {
  const plan = async (client: Client, body: object): Promise<PlanAnswer> => {
    const { status, json } = await client.post('/v1/plan', { branch: 'main', ...body });
    expect(status, JSON.stringify(json)).toBe(200);
    return json as PlanAnswer;
  };

  it('forecasts the files of the newest build', async ({ server }) => {
    await recordedQueue(server);
    const answer = await plan(server, { nodes: '2..4', pull_cost: 0, start_spread: 0 });
    expect(answer).toMatchObject({ files: 41, unknown_files: 0, total: 120, useful_nodes: 3, nodes_within: null });
    expect(answer.longest).toEqual({ path: 'long_spec.rb', seconds: 40 });
    expect(answer.variants.map(({ nodes, wall }) => [nodes, wall])).toEqual([
      [2, 60],
      [3, 40],
      [4, 40],
    ]);
    // One number is useful, whatever numbers are asked for.
    for (const nodes of ['2', '1,2', '60']) expect((await plan(server, { nodes, pull_cost: 0, start_spread: 0 })).useful_nodes).toBe(3);
    // Another branch has no build: it gets the files of the default branch.
    expect(await plan(server, { branch: 'new', nodes: '2..4', pull_cost: 0, start_spread: 0 })).toEqual(answer);
  });

  it('forecasts a list of files, with guesses for those that are new', async ({ server }) => {
    await recordedQueue(server);
    const paths = ['long_spec.rb', ...manyPaths(8), 'new_spec.rb', 'new_spec.rb'];
    const answer = await plan(server, { nodes: '1,2', test_files: testFiles(paths), mode: 'split' });
    expect(answer).toMatchObject({ files: 10, unknown_files: 1, assumptions: { mode: 'split', estimates: 'now' } });
    expect(answer.variants.map(({ nodes }) => nodes)).toEqual([1, 2]);
  });

  it('names the least number of nodes that ends in time', async ({ server }) => {
    const few = Object.fromEntries(manyPaths(8).map(path => [path, 10]));
    await record(server, { node_total: 1, test_files: timedTestFiles({ 'long_spec.rb': 40, ...few }) });
    const asked = { pull_cost: 0, start_spread: 0 };
    const within = async (limit: number, nodes?: string) => (await plan(server, { ...asked, within: limit, nodes })).nodes_within;
    expect(await Promise.all([120, 119, 60, 59, 40].map(limit => within(limit, '1..4')))).toEqual([1, 2, 2, 3, 3]);
    // All numbers that could end in time are played if the request names none.
    expect(await Promise.all([59, 39].map(limit => within(limit)))).toEqual([3, null]);
  });

  it('takes the server’s setting for the cost of a batch when no build shows it', async ({ server }) => {
    const { assumptions, unknown_files } = await plan(server, { test_files: testFiles(['a_spec.rb']) });
    expect([assumptions.pull_cost, assumptions.start_spread, unknown_files]).toEqual([2, 0, 1]);
  });

  it.for([
    [{ branch: '' }, 'branch'],
    [{ nodes: '1..100' }, 'nodes'],
    [{ within: 0 }, 'within'],
    [{ mode: 'both' }, 'mode'],
    [{ start_spread: 'soon' }, 'start_spread'],
    [{ test_files: ['a_spec.rb'] }, 'test_files'],
    [{ test_files: [] }, 'test_files'],
    [{}, 'test_files'],
  ] as const)('answers 422 for %j', async ([body, parameter], { server }) => {
    const { status, json } = await server.post('/v1/plan', { branch: 'main', ...body });
    expect([status, Object.keys(json.errors[0])]).toEqual([422, [parameter]]);
  });
});
