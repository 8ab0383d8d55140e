import { describe, expect } from 'vitest';
import type { Client, Reply } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { buildKey, type Fields, record, timedTestFiles } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const clock = new Clock();
const it = testsWith(new SharedServer({}, { now: clock.now }));

function last(client: Client, more: Record<string, string> = {}): Promise<Reply> {
  const query = new URLSearchParams({ ...buildKey, node_total: '2', node_index: '0', ...more });
  return client.get(`/v1/build_distributions/last?${query.toString()}`);
}

async function buildId(client: Client, { commit_hash }: Fields): Promise<string> {
  return (await client.get(`/v1/builds?commit_hash=${String(commit_hash)}`)).json.data[0].id;
}

function byPath({ json }: Reply): Record<string, number> {
  return Object.fromEntries(json.test_files.map((file: any) => [file.path, file.time_execution]));
}

describe('GET /build_distributions/last', () => {
  it('is empty while nothing is recorded', async ({ server }) => {
    const reply = await last(server);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({ build_distribution_id: null, time_execution: 0, test_files: [] });
  });

  it('has the files of all nodes of the build', async ({ server }) => {
    await record(server, { node_index: 0, test_files: timedTestFiles({ 'b_spec.rb': 1.5, 'd_spec.rb': 2 }) });
    await record(server, { node_index: 1, test_files: timedTestFiles({ 'a_spec.rb': 1.5, 'c_spec.rb': 4.25 }) });
    expect((await last(server, { node_index: '1' })).json).toEqual({
      build_distribution_id: await buildId(server, buildKey),
      time_execution: 9.25,
      // The slowest first.
      test_files: timedTestFiles({ 'c_spec.rb': 4.25, 'd_spec.rb': 2, 'a_spec.rb': 1.5, 'b_spec.rb': 1.5 }),
    });
  });

  it('has the median of retries, without runs that only scheduled the file', async ({ server }) => {
    const runs = [
      { 'odd.rb': 9, 'even.rb': 1, 'zero.rb': 0, 'once.rb': 0 },
      { 'odd.rb': 1, 'even.rb': 4, 'zero.rb': 0, 'once.rb': 6 },
      { 'odd.rb': 2, 'even.rb': 0, 'zero.rb': 0, 'once.rb': 0 },
    ];
    for (const run of runs) await record(server, { test_files: timedTestFiles(run) });
    const reply = await last(server);
    expect(byPath(reply)).toEqual({ 'odd.rb': 2, 'even.rb': 2.5, 'zero.rb': 0, 'once.rb': 6 });
    expect(reply.json.time_execution).toBe(10.5);
  });

  it('is of the build that is nearest to the one that is asked about', async ({ server }) => {
    const builds = [
      { commit_hash: 'c1', branch: 'main', node_total: 2 },
      { commit_hash: 'c2', branch: 'main', node_total: 2 },
      { commit_hash: 'c3', branch: 'main', node_total: 3 },
      { commit_hash: 'c4', branch: 'dev', node_total: 4 },
    ];
    for (const build of builds) {
      await record(server, { ...build, test_files: timedTestFiles({ [`${build.commit_hash}_spec.rb`]: 1 }) });
      clock.advance({ seconds: 60 });
    }
    for (const [situation, query, expected] of [
      ['the same commit, branch and node_total, even if newer builds exist', { commit_hash: 'c1', branch: 'main', node_total: '2' }, 'c1'],
      ['else the newest build of the branch and node_total', { commit_hash: 'new', branch: 'main', node_total: '2' }, 'c2'],
      ['else the newest build of the branch', { commit_hash: 'c1', branch: 'main', node_total: '9' }, 'c3'],
      ['else the newest build of the project', { commit_hash: 'c1', branch: 'topic', node_total: '2' }, 'c4'],
    ] as const)
      expect((await last(server, query)).json, situation).toEqual({
        build_distribution_id: await buildId(server, { commit_hash: expected }),
        time_execution: 1,
        test_files: timedTestFiles({ [`${expected}_spec.rb`]: 1 }),
      });
  });
});
