import { expect, it } from 'vitest';
import type { TimelineAnswer } from '../../../src/protocol/answers/timeline.js';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import { getCompleteness } from '../../harness/completeness.js';
import { manyPaths, record } from '../../harness/messages.js';
import { QueueNode } from '../../harness/queue-node.js';
import { startServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const SUITE = manyPaths(30);
const TREE = 'a'.repeat(40);
const RETRIES = { tree: TREE, sends_heartbeats: true, retry_failed: true, wants_times: true };

const times = (paths: readonly string[]) => paths.map(() => 1);
const next = (node: QueueNode, failed: readonly string[] = []) => node.next(failed, { times: times(node.paths) });

interface Retried {
  suite?: readonly string[];
  branch?: string;
  /** Files that the default branch had before. */
  before?: readonly string[];
  /** Place of the file that failed in the first batch. */
  at?: number;
}

/** Two nodes, of which the first one has a file that failed, and the second one its retry. */
async function retried({ suite = SUITE, branch = 'main', before = [], at = 0 }: Retried = {}) {
  const settings = { dataDir: temporaryFolder() };
  const server = await startServer(settings);
  if (before.length > 0) await record(server, { commit_hash: 'before', test_files: outcome(before) });
  const nodes = [0, 1].map(index => new QueueNode(server, index, { ...RETRIES, branch }));
  const [first, second] = nodes as [QueueNode, QueueNode];
  const ran: [string[], string[]] = [await first.start(suite), await second.start(suite)];
  const failed = ran[0][at]!;
  const last = await next(first, [failed]);
  ran[0].push(...last);
  let batch: string[] = [];
  for (; batch[0] !== failed; batch = await next(second)) ran[1].push(...batch);
  expect({ batch, ran: ran.flat().length }).toEqual({ batch: [failed], ran: suite.length });
  await next(first);
  return { server, settings, first, second, failed, ran };
}

const outcome = (paths: readonly string[], failed?: string) =>
  paths.map(path => ({ path, time_execution: 1, ...(path === failed && { outcome: 'failed' }) }));

it('hands a file that failed to the node that is free, and tells its own node how it ended, which both the gate and a receipt name', async () => {
  const { server, first, second, failed, ran } = await retried();
  expect((await first.pull()).json).toMatchObject({ paths: [], pull_again_in: 1 });
  expect(await next(second)).toEqual([]);
  const { json } = await first.send({ batch_index: 99 });
  expect(json).toMatchObject({ paths: [], batch_id: null, passed_again: [failed] });
  expect(json.pull_again_in).toBeUndefined();
  // The node of the retry may record first.
  await record(server, { node_index: 1, ci_build_id: '100', tells_outcomes: true, test_files: outcome([...ran[1], failed]) });
  await record(server, { node_index: 0, ci_build_id: '100', tells_outcomes: true, test_files: outcome(ran[0], failed) });
  expect(await getCompleteness(server, { node_build_id: '100' })).toMatchObject({
    status: 200,
    json: {
      ...{ is_complete: true, warnings: [], recorded_twice: [], default_branch: 'main' },
      flaky: [{ path: failed, node_indexes: [0], is_new: false }],
    },
  });
  const asked = (flaky: string) => server.get(`/v1/proofs?tree=${TREE}&test_files_digest=${digestOfList(SUITE)}&max_age=600${flaky}`);
  expect((await asked('')).json).toMatchObject({ is_proved: false, reason: expect.stringContaining(failed) as string });
  expect((await asked('&flaky_passes=true')).json).toMatchObject({ is_proved: true, ci_run: { flaky: [failed] } });
  const [ciRun] = await server.store.ciRuns.list(1, Infinity, 1);
  const { json: receipt } = await server.get(`/v1/builds/${ciRun!.id}/receipt`);
  const statement = JSON.parse(Buffer.from(receipt.payload, 'base64').toString());
  expect(statement.predicate).toMatchObject({ result: 'WARNED', warnedTests: [failed] });
});

it.each([
  ['a file of the default branch', SUITE, SUITE, false],
  ['a file that the default branch has in pieces', SUITE, SUITE.map(path => `${path}::piece 1 of 2`), false],
  ['a test case of a file that the default branch has', SUITE.map(path => `${path}[1:1]`), SUITE, false],
  ['a file that the default branch never measured', SUITE, ['spec/other_spec.rb'], true],
  ['a renamed file', SUITE.map(path => path.replace('model_', 'renamed_')), SUITE, true],
])('says of %s whether it is new', async (_, suite, before, is_new) => {
  const { server, second, failed } = await retried({ suite, branch: 'feature', before });
  await next(second);
  const { json } = await getCompleteness(server, { node_build_id: '100', branch: 'feature' });
  expect(json).toMatchObject({ flaky: [{ path: failed, node_indexes: [0], is_new }], default_branch: 'main' });
});

it('names no file as new where nothing was recorded, so that there is no default branch', async () => {
  const { server, second, failed } = await retried({ branch: 'feature' });
  await next(second);
  const { status, json } = await getCompleteness(server, { node_build_id: '100', branch: 'feature' });
  expect([status, json.flaky, json.default_branch]).toEqual([409, [{ path: failed, node_indexes: [0] }], undefined]);
});

it('marks on the timeline where a file failed that passed in its retry, and what the test runner tried again itself', async () => {
  const { server, first, second, failed, ran } = await retried();
  const flaky = async () => {
    const [ciRun] = await server.store.ciRuns.list(1, Infinity, 1);
    const { paths, nodes } = (await server.get(`/v1/builds/${ciRun!.id}/timeline`)).json as TimelineAnswer;
    return nodes.map(({ spans }) => spans.flatMap(span => (span.flaky ?? []).map(file => paths[file])));
  };
  await record(server, { node_index: 0, ci_build_id: '100', tells_outcomes: true, test_files: outcome(ran[0], failed) });
  expect(await flaky()).toEqual([[], []]);
  await next(second);
  await first.pull();
  expect(await flaky()).toEqual([[failed], []]);
  const [again] = ran[1] as [string];
  const test_files = outcome([...ran[1], failed]).map(file => (file.path === again ? { ...file, outcome: 'flaky' } : file));
  await record(server, { node_index: 1, ci_build_id: '100', tells_outcomes: true, test_files });
  expect(await flaky()).toEqual([[failed], [again]]);
});

it('counts a failure that its node recorded more often than it reported as one that was not retried', async () => {
  const { server, first, second, failed, ran } = await retried();
  await next(second);
  await first.pull();
  await record(server, { node_index: 1, ci_build_id: '100', tells_outcomes: true, test_files: outcome([...ran[1], failed]) });
  for (let i = 0; i < 2; i++)
    await record(server, { node_index: 0, ci_build_id: '100', tells_outcomes: true, test_files: outcome(ran[0], failed) });
  const query = `tree=${TREE}&test_files_digest=${digestOfList(SUITE)}&max_age=600&flaky_passes=true`;
  expect((await server.get(`/v1/proofs?${query}`)).json).toMatchObject({ is_proved: false });
});

it('keeps which file ran just before the one that failed, in the same batch', async () => {
  const { server, first, second, failed, ran } = await retried({ at: 1 });
  await next(second);
  await first.pull();
  await record(server, { node_index: 0, ci_build_id: '100', tells_outcomes: true, test_files: outcome(ran[0], failed) });
  await record(server, { node_index: 1, ci_build_id: '100', tells_outcomes: true, test_files: outcome([...ran[1], failed]) });
  await server.service.summarize();
  const [build] = await server.store.failures.newest(1, 1);
  const before = await server.store.builds.pathNumber(1, ran[0][0]!);
  expect(build!.failures.files).toMatchObject([{ isFlaky: true, node_index: 0, before, slowdown: 1 }]);
});

it('tells the node that its file failed again by leaving it out', async () => {
  const { first, second, failed } = await retried();
  expect(await next(second, [failed])).toEqual([]);
  const { json } = await first.send({ batch_index: 99 });
  expect([json.paths, json.passed_again, json.pull_again_in]).toEqual([[], undefined, undefined]);
});

it('goes on after a restart of the server', async () => {
  const { server, settings, first, second, failed } = await retried();
  await server.close();
  const client = await startServer(settings);
  for (const node of [first, second]) Object.assign(node, { client });
  expect((await first.send({ batch_index: 98 })).json).toMatchObject({ pull_again_in: 1 });
  await next(second);
  expect((await first.send({ batch_index: 99 })).json).toMatchObject({ passed_again: [failed] });
});

it('keeps a client out that sends no heartbeats', async () => {
  const server = await startServer();
  const node = new QueueNode(server, 0, { retry_failed: true });
  await node.start(SUITE);
  const ran = [...node.paths];
  let batch = await next(node, [node.paths[0]!]);
  for (; batch.length > 0; batch = await next(node)) ran.push(...batch);
  expect(ran).toHaveLength(SUITE.length);
});
