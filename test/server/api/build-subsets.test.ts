import { describe, expect } from 'vitest';
import { version } from '../../../src/base/version.js';
import type { Client } from '../../harness/client.js';
import { record, subsetMessage } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const it = testsWith(new SharedServer());

async function onlyBuild(server: Client): Promise<any> {
  const { data } = (await server.get('/v1/builds')).json;
  expect(data).toHaveLength(1);
  return (await server.get(`/v1/builds/${data[0].id}`)).json;
}

describe('POST /build_subsets', () => {
  it('keeps odd paths, and only path and time of each file, in their order', async ({ server }) => {
    const paths = ['spec/größe "x"\\y_spec.rb', 'b_spec.rb[1:2]', '日本語.test.ts', 'tab\tnewline\n.js', '../😀.py'];
    const files = paths.map((path, i) => ({ path, time_execution: i / 8 }));
    const message = subsetMessage({ test_files: files.map(file => ({ ...file, status: 'passed' })) });
    expect(await server.post('/v1/build_subsets', message)).toMatchObject({ status: 201, text: '' });
    expect((await onlyBuild(server)).build_subsets[0].test_files).toEqual(files);
  });

  it('keeps the outcome of each file that its client tells', async ({ server }) => {
    const [passed, failed] = [
      { path: 'a_spec.rb', time_execution: 1 },
      { path: 'b_spec.rb', time_execution: 2, outcome: 'failed' },
    ];
    for (const tells_outcomes of [true, undefined]) await record(server, { tells_outcomes, test_files: [passed, failed] });
    const [newest, oldest] = (await onlyBuild(server)).build_subsets;
    expect([oldest.test_files, newest.test_files]).toEqual([
      [{ ...passed, outcome: 'passed' }, failed],
      [passed, failed],
    ]);
    const unknown = await server.post('/v1/build_subsets', subsetMessage({ test_files: [{ ...passed, outcome: 'green' }] }));
    expect(unknown).toMatchObject({ status: 422 });
  });

  it('stores the first run of a node and 100 retries, and ignores more with a message', async ({ server }) => {
    await Promise.all(Array.from({ length: 101 }, () => record(server)));
    const message = 'node 0 of this build was retried more than 100 times; this run is not stored, which does not affect the CI build';
    for (let i = 0; i < 2; i++)
      expect(await server.post('/v1/build_subsets', subsetMessage())).toMatchObject({ status: 202, json: { message } });
    expect((await onlyBuild(server)).build_subsets).toHaveLength(101);
    for (const other of [{ node_index: 1 }, { commit_hash: 'next' }]) await record(server, other);
  });
});

describe('an outdated client', () => {
  const it = testsWith(new SharedServer({ clientVersions: 'knapsack_pro=7.14.0, @knapsack-pro/jest=9.0.0' }));

  it.for([
    ['SERVICE', 'knapsack_pro', '7.13.9', 'knapsack_pro 7.13.9 is outdated; please update to version 7.14.0'],
    ['KNAPSACK-PRO', 'knapsack_pro', '6.0.4', 'knapsack_pro 6.0.4 is outdated; please update to version 7.14.0'],
    ['SERVICE', '@knapsack-pro/jest', '8.2', '@knapsack-pro/jest 8.2 is outdated; please update to version 9.0.0'],
  ] as const)('(%s-CLIENT-NAME %s %s) is asked for an update', async ([prefix, name, version, message], { server }) => {
    const headers = { [`${prefix}-CLIENT-NAME`]: name, [`${prefix}-CLIENT-VERSION`]: version };
    const reply = await server.post('/v1/build_subsets', subsetMessage(), headers);
    expect(reply).toMatchObject({ status: 201, json: { message } });
    expect(Object.keys(reply.json)).toEqual(['message']);
    expect((await onlyBuild(server)).build_subsets).toHaveLength(1);
  });

  it('of Ballast is one of another version than the server', async ({ server }) => {
    const [older, same] = await Promise.all(
      ['0.0.1', version].map(each =>
        server.post('/v1/build_subsets', subsetMessage(), { 'SERVICE-CLIENT-NAME': 'ballast', 'SERVICE-CLIENT-VERSION': each }),
      ),
    );
    const message = `the client has version 0.0.1, and the server ${version}: fetch /ballast.mjs from the server in each CI run`;
    expect(older).toMatchObject({ status: 201, json: { message } });
    const headers = { 'SERVICE-CLIENT-NAME': 'ballast-pytest', 'SERVICE-CLIENT-VERSION': '0.0.1' };
    const plugin = await server.post('/v1/build_subsets', subsetMessage({ node_index: 1 }), headers);
    expect(plugin.json.message).toContain('fetch /ballast_pytest.py from the server');
    expect(same).toMatchObject({ status: 201, text: '' });
  });

  it('is not one that has the newest or a newer version, an unknown name, or an invalid or no version', async ({ server }) => {
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
