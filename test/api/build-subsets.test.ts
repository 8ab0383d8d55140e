import { describe, expect, it } from 'vitest';
import type { Client } from '../harness/client.js';
import { Clock } from '../harness/clock.js';
import { buildKey, record, subsetMessage, timedTestFiles, uuidPattern } from '../harness/messages.js';
import { SharedServer, startServer } from '../harness/server.js';

const shared = new SharedServer();

async function onlyBuild(server: Client): Promise<any> {
  const { data } = (await server.get('/v1/builds')).json;
  expect(data).toHaveLength(1);
  return (await server.get(`/v1/builds/${data[0].id}`)).json;
}

describe('POST /build_subsets', () => {
  it('records the run of a node, and its answer is empty', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    const reply = await server.post('/v1/build_subsets', subsetMessage({ node_index: 1 }));
    expect(reply).toMatchObject({ status: 201, text: '' });
    const at = '2026-01-01T00:00:00.000Z';
    expect(await onlyBuild(server)).toEqual({
      id: expect.stringMatching(uuidPattern),
      ...buildKey,
      created_at: at,
      updated_at: at,
      build_subsets: [
        {
          id: expect.stringMatching(uuidPattern),
          node_index: 1,
          created_at: at,
          updated_at: at,
          test_files: timedTestFiles({ 'a_spec.rb': 1.5, 'b_spec.rb': 0.25 }),
        },
      ],
    });
  });

  it('merges the nodes of one build, and each updates its updated_at', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    await record(server);
    clock.advance({ seconds: 90 });
    await record(server, { node_index: 1 });
    const build = await onlyBuild(server);
    expect(build).toMatchObject({ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:01:30.000Z' });
    expect(build.build_subsets.map((subset: any) => subset.node_index)).toEqual([1, 0]);
  });

  it('creates one build with all runs when all nodes record concurrently', async () => {
    const server = await shared.project();
    const nodes = Array.from({ length: 25 }, (_, node_index) => node_index);
    await Promise.all(nodes.map(node_index => record(server, { node_total: 25, node_index })));
    const { build_subsets } = await onlyBuild(server);
    const indices = build_subsets.map((subset: any) => subset.node_index);
    expect(indices.sort((a: number, b: number) => a - b)).toEqual(nodes);
    expect(new Set(build_subsets.map((subset: any) => subset.id)).size).toBe(25);
  });

  it.each([{ commit_hash: 'other' }, { branch: 'other' }, { node_total: 3 }])('creates another build for %o', async other => {
    const server = await shared.project();
    await record(server);
    await record(server, other);
    expect((await server.get('/v1/builds')).json.data).toHaveLength(2);
  });

  it('records a late node that ran nothing', async () => {
    const server = await shared.project();
    expect(await server.post('/v1/build_subsets', subsetMessage({ test_files: [] }))).toMatchObject({
      status: 201,
      text: '',
    });
    expect((await onlyBuild(server)).build_subsets).toMatchObject([{ node_index: 0, test_files: [] }]);
  });

  it('keeps odd paths, and only path and time of each file, in their order', async () => {
    const server = await shared.project();
    const paths = ['spec/größe "x"\\y_spec.rb', 'b_spec.rb[1:2]', '日本語.test.ts', 'tab\tnewline\n.js', '../😀.py'];
    const files = paths.map((path, i) => ({ path, time_execution: i / 8 }));
    await record(server, { test_files: files.map(file => ({ ...file, status: 'passed' })) });
    expect((await onlyBuild(server)).build_subsets[0].test_files).toEqual(files);
  });

  it('stores the first run of a node and 100 retries, and ignores more with a message', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    await Promise.all(Array.from({ length: 101 }, () => record(server)));
    clock.advance({ seconds: 5 });
    const message = subsetMessage({ test_files: timedTestFiles({ 'late_spec.rb': 99 }) });
    for (let i = 0; i < 2; i++) {
      expect(await server.post('/v1/build_subsets', message)).toMatchObject({
        status: 202,
        json: {
          message: 'node 0 of this build was retried more than 100 times; this run is not stored, ' + 'which does not affect the CI build',
        },
      });
    }
    const build = await onlyBuild(server);
    expect(build.build_subsets).toHaveLength(101);
    expect(build.updated_at).toBe('2026-01-01T00:00:00.000Z');
    const query = 'commit_hash=c0ffee1&branch=main&node_total=2&node_index=0';
    const { test_files } = (await server.get(`/v1/build_distributions/last?${query}`)).json;
    expect(test_files).not.toContainEqual(expect.objectContaining({ path: 'late_spec.rb' }));

    expect((await server.post('/v1/build_subsets', { ...message, node_index: 1 })).status).toBe(201);
    expect((await server.post('/v1/build_subsets', { ...message, commit_hash: 'next' })).status).toBe(201);
  });
});

describe('an outdated client', () => {
  const clientVersions = 'knapsack_pro=7.14.0, @knapsack-pro/jest=9.0.0';

  it.each([
    ['SERVICE', 'knapsack_pro', '7.13.9', 'knapsack_pro 7.13.9 is outdated; please update to version 7.14.0'],
    ['KNAPSACK-PRO', 'knapsack_pro', '6.0.4', 'knapsack_pro 6.0.4 is outdated; please update to version 7.14.0'],
    ['SERVICE', '@knapsack-pro/jest', '8.2', '@knapsack-pro/jest 8.2 is outdated; please update to version 9.0.0'],
  ])('(%s-CLIENT-NAME %s %s) is asked for an update', async (prefix, name, version, message) => {
    const server = await startServer({ clientVersions });
    const headers = { [`${prefix}-CLIENT-NAME`]: name, [`${prefix}-CLIENT-VERSION`]: version };
    const reply = await server.post('/v1/build_subsets', subsetMessage(), headers);
    expect(reply).toMatchObject({ status: 201, json: { message } });
    expect(Object.keys(reply.json)).toEqual(['message']);
    expect((await onlyBuild(server)).build_subsets).toHaveLength(1);
  });

  it('is not one that has the newest or a newer version, an unknown name, or an invalid or no version', async () => {
    const server = await startServer({ clientVersions });
    for (const [name, version] of [
      ['knapsack_pro', '7.14.0'],
      ['knapsack_pro', '7.15.0'],
      ['knapsack_pro', '10.0.0'],
      ['unknown', '0.0.1'],
      ['constructor', '0.0.1'],
      ['knapsack_pro', 'next'],
      ['knapsack_pro', ''],
      ['', '1.0.0'],
    ] as const) {
      const headers = { 'SERVICE-CLIENT-NAME': name, 'SERVICE-CLIENT-VERSION': version };
      expect(await server.post('/v1/build_subsets', subsetMessage(), headers)).toMatchObject({ status: 201, text: '' });
    }
  });
});
