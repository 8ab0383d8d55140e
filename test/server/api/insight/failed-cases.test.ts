import { describe, expect } from 'vitest';
import type { MinutesAnswer } from '../../../../src/protocol/answers/minutes.js';
import { piecePath } from '../../../../src/protocol/piece-path.js';
import type { Client } from '../../../harness/client.js';
import { buildKey, record } from '../../../harness/messages.js';
import { QueueNode } from '../../../harness/queue-node.js';
import { SharedServer, testsWith } from '../../../harness/server.js';

const it = testsWith(new SharedServer());

/** Plays the only node of a queue of these files. */
async function runQueue(client: Client, failed: readonly string[], paths = ['a_spec.rb', 'b_spec.rb']) {
  const node = new QueueNode(client, 0, { node_total: 1 });
  await node.start(paths);
  while (node.paths.length > 0) await node.next(failed.filter(path => node.paths.includes(path)));
}

const failing = (name: string) => ({ name, seconds: 1, outcome: 'failed' });
const passing = (name: string) => ({ name, seconds: 1, outcome: 'passed' });

async function tell(client: Client, path: string, cases: readonly object[], more: object = {}, ci_build_id = '100') {
  const files = [{ path, seconds: 10, cases, ...more }];
  const reply = await client.post('/v2/test_cases', { ...buildKey, node_total: 1, node_index: 0, ci_build_id, runner: 'rspec', files });
  expect(reply).toMatchObject({ status: 200, json: { kept: 1 } });
}

async function minutesOf(client: Client): Promise<MinutesAnswer> {
  const { builds } = (await client.get('/v1/build_summaries')).json;
  return (await client.get(`/v1/builds/${builds[0].ci_run_id}/minutes`)).json;
}

describe('the verdict of a build with a failed file', () => {
  it('names the failed test case that a client told', async ({ server }) => {
    await runQueue(server, ['a_spec.rb']);
    await tell(server, 'a_spec.rb', [passing('adds'), failing('adds tax')]);
    const { verdict, verdict_paths, failed } = await minutesOf(server);
    expect(verdict).toMatch(/^1 test file failed: a_spec\.rb \(adds tax\) on node 0\. /);
    expect(verdict_paths[0]).toBe('a_spec.rb');
    expect(failed).toEqual([{ path: 'a_spec.rb', node_index: 0, first_case: { name: 'adds tax', more: 0 } }]);
  });

  it('says which failures are muted, and is complete if all are', async ({ server }) => {
    await runQueue(server, ['a_spec.rb', 'b_spec.rb']);
    const tell = async (outcome: string) => {
      const test_files = ['a_spec.rb', 'b_spec.rb'].map((path, i) => ({ path, time_execution: 1, outcome: i === 0 ? 'muted' : outcome }));
      await record(server, { ...buildKey, node_total: 1, node_index: 0, ci_build_id: '100', tells_outcomes: true, test_files });
      return minutesOf(server);
    };
    const { verdict, failed, state } = await tell('failed');
    expect(verdict).toMatch(/^2 test files failed: a_spec\.rb on node 0 \(muted\), b_spec\.rb on node 0\. First red /);
    expect(failed).toEqual([
      { path: 'a_spec.rb', node_index: 0, is_muted: true },
      { path: 'b_spec.rb', node_index: 0 },
    ]);
    expect(state).toBe('failed');
  });

  it('names the first failed test case and counts the others', async ({ server }) => {
    await runQueue(server, ['a_spec.rb']);
    await tell(server, 'a_spec.rb', [failing('adds tax'), passing('adds'), failing('rounds'), failing('prints')]);
    expect((await minutesOf(server)).verdict).toMatch(/^1 test file failed: a_spec\.rb \(adds tax and 2 more\) on node 0\. /);
  });

  it('names no case of a file of which another CI run told the cases', async ({ server }) => {
    await runQueue(server, ['a_spec.rb']);
    await tell(server, 'a_spec.rb', [failing('adds tax')], {}, '99');
    expect((await minutesOf(server)).verdict).toMatch(/^1 test file failed: a_spec\.rb on node 0\. /);
  });

  it('names the cases of a failed piece that did not pass in the whole file', async ({ server }) => {
    const [one, two] = [1, 2].map(number => piecePath({ file: 'a_spec.rb', number, count: 2 })) as [string, string];
    await runQueue(server, [two], [one, two]);
    await tell(server, one, [failing('of the other piece')], { is_piece: true });
    await tell(server, two, [failing('only in a piece'), failing('adds tax')], { is_piece: true, passed_whole: ['only in a piece'] });
    await tell(server, 'a_spec.rb', [passing('only in a piece'), failing('adds tax')]);
    expect((await minutesOf(server)).verdict).toContain(`1 test file failed: ${two} (adds tax) on node 0. `);
  });
});
