import { describe, expect, it } from 'vitest';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import type { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { type Fields, manyPaths, record } from '../../harness/messages.js';
import { QueueNode } from '../../harness/queue-node.js';
import { startServer, type TestServer } from '../../harness/server.js';

const SUITE = manyPaths(6);
const [FAILING] = SUITE as [string];
const CHECKOUT: Fields = { tree: 'a'.repeat(40), proof_keys: ['1'.repeat(64)] };
const DAY = 86_400;
const BUILD = { commit_hash: 'c0ffee1', branch: 'main', node_total: 2 };

interface Run {
  ci_run: string;
  suite?: readonly string[];
  /** Of the first requests of its nodes. */
  told?: Fields;
  failed?: readonly string[];
  /** Outcomes other than passed and failed. */
  outcomes?: Record<string, string>;
  nodes?: number;
  /** Its last node pulls once, and dies. */
  dies?: boolean;
  /** Its nodes stop before the queue is empty. */
  stops?: boolean;
  tells?: boolean;
}

/** Plays a CI run in which each node records what it ran. Returns the files by node, and what the first answer says is left out. */
async function play(server: Client, { ci_run, suite = SUITE, told = {}, failed = [], outcomes = {}, nodes = 2, ...more }: Run) {
  const fields = { ...CHECKOUT, wants_times: true, test_queue_id: ci_run, ...BUILD, node_total: nodes, ...told };
  const pullers = Array.from({ length: nodes }, (_, node) => new QueueNode(server, node, fields));
  const connected = await pullers[0]!.connect();
  const first = connected.json.code ? await pullers[0]!.initialise(suite) : connected;
  const ran: string[][] = [];
  for (const puller of pullers) ran.push(await puller.start(suite));
  const last = more.dies ? nodes - 1 : -1;
  for (let isDone = more.stops === true; !isDone; ) {
    isDone = true;
    for (const [i, puller] of pullers.entries()) {
      if (i === last) continue;
      const batch = await puller.next(puller.paths.filter(path => failed.includes(path)));
      ran[i]!.push(...batch);
      isDone &&= batch.length === 0;
    }
  }
  for (const [node_index, paths] of ran.entries()) {
    if (node_index === last) continue;
    const test_files = paths.map(path => {
      const outcome = failed.includes(path) ? 'failed' : outcomes[path];
      return { path, time_execution: 1, ...(outcome && { outcome }) };
    });
    await record(server, {
      ...BUILD,
      node_total: nodes,
      node_index,
      ci_build_id: ci_run,
      tells_outcomes: more.tells !== false,
      test_files,
    });
  }
  return { ran, leftOut: first.json.proved as { test_files: number; ci_runs: { ci_run: string }[] } | undefined };
}

/** The same, of a CI run that leaves out what is proved. */
const rerun = (server: Client, run: Run) => play(server, { ...run, told: { proved_max_age: 7 * DAY, ...run.told } });

async function gate(server: Client, ci_run: string, node_total = 2) {
  const query = new URLSearchParams({ ...BUILD, node_total: String(node_total), node_build_id: ci_run });
  return (await server.get(`/v1/builds/completeness?${query.toString()}`)).json;
}

async function ask(server: Client, more: Record<string, string> = {}) {
  const asked = { tree: 'a'.repeat(40), test_files_digest: digestOfList(SUITE), proof_keys: '1'.repeat(64), max_age: String(7 * DAY) };
  return (await server.get(`/v1/proofs?${new URLSearchParams({ ...asked, ...more }).toString()}`)).json;
}

const reasonOf = async (server: Client, more?: Record<string, string>) => (await ask(server, more)).reason as string | null;

async function start(): Promise<{ server: TestServer; clock: Clock }> {
  const clock = new Clock();
  return { server: await startServer({}, clock.now), clock };
}

const ranIn = ({ ran }: { ran: string[][] }) => ran.flat().sort();

it('runs only the files that did not pass, on any number of nodes, and its gate counts the others as proved', async () => {
  const { server } = await start();
  await play(server, { ci_run: '100', failed: [FAILING] });
  const again = await rerun(server, { ci_run: '101', nodes: 3 });
  expect(ranIn(again)).toEqual([FAILING]);
  expect(again.leftOut).toMatchObject({ test_files: 5, ci_runs: [{ ci_run: '100' }] });
  expect(await gate(server, '101', 3)).toMatchObject({
    is_complete: true,
    ...{ test_files: 1, recorded: 1 },
    proved: { test_files: 5, ci_runs: [{ ci_run: '100', ci_run_id: expect.any(String) as string }] },
  });
  expect(await gate(server, '100')).not.toHaveProperty('proved');
  expect(await reasonOf(server)).toBeNull();
});

it('runs every file where nothing is proved: in a first build, and with another tree, key, list or age', async () => {
  const { server, clock } = await start();
  expect(ranIn(await rerun(server, { ci_run: '100', failed: [FAILING] }))).toEqual(SUITE);
  clock.advance({ seconds: 1 });
  for (const [i, told] of [
    { tree: 'b'.repeat(40) },
    { proof_keys: [] },
    { proof_keys: ['1'.repeat(64), '2'.repeat(64)] },
    { tree_doubt: 'a.js is changed' },
    { proved_max_age: 1 },
    { proved_max_age: undefined },
  ].entries()) {
    const again = await rerun(server, { ci_run: `20${i}`, told });
    expect([again.leftOut, ranIn(again)]).toEqual([undefined, SUITE]);
  }
  const other = [...SUITE, 'other_spec.rb'].sort();
  expect(ranIn(await rerun(server, { ci_run: '300', suite: other }))).toEqual(other);
});

it.each<[situation: string, run: Partial<Run>, ran: (all: string[][]) => readonly string[]]>([
  ['passed when its runner tried it again', { outcomes: { [FAILING]: 'flaky' } }, () => [FAILING]],
  ['was on a node that died', { dies: true }, ([, dead]) => dead!],
  ['was never handed out', { stops: true }, ran => SUITE.filter(path => !ran.flat().includes(path))],
  ['ran with a client that tells no outcomes', { tells: false }, () => SUITE],
])('runs a file again that %s', async (_, run, expected) => {
  const { server } = await start();
  const { ran } = await play(server, { ci_run: '100', ...run });
  const again = await rerun(server, { ci_run: '101' });
  expect(ranIn(again)).toEqual([...expected(ran)].sort());
  expect((await gate(server, '101')).is_complete).toBe(true);
});

it('runs a file again that failed on a node in fallback, which ran also what its queue left out', async () => {
  const { server, clock } = await start();
  await play(server, { ci_run: '100', failed: [FAILING] });
  clock.advance({ seconds: 60 });
  await rerun(server, { ci_run: '101' });
  await rerun(server, { ci_run: '102' });
  const failed = [{ path: SUITE[1]!, time_execution: 1, outcome: 'failed' }];
  await record(server, { ...BUILD, node_index: 1, ci_build_id: '101', tells_outcomes: true, test_files: failed });
  expect((await gate(server, '102')).errors[0]).toContain(`but ${SUITE[1]} failed since`);
  clock.advance({ seconds: 60 });
  expect(ranIn(await rerun(server, { ci_run: '103' }))).toEqual([SUITE[1]]);
  expect((await gate(server, '103')).is_complete).toBe(true);
});

it('runs a file again that failed in a CI run that proves nothing, because a node did not tell its tree', async () => {
  const { server, clock } = await start();
  await play(server, { ci_run: '100' });
  clock.advance({ seconds: 60 });
  await new QueueNode(server, 0, { ...CHECKOUT, test_queue_id: '101', ...BUILD }).initialise(SUITE);
  const failed = [{ path: FAILING, time_execution: 1, outcome: 'failed' }];
  await record(server, { ...BUILD, node_index: 1, ci_build_id: '101', tells_outcomes: true, test_files: failed });
  clock.advance({ seconds: 60 });
  expect(ranIn(await rerun(server, { ci_run: '102' }))).toEqual([FAILING]);
});

it('leaves out a file whose tests were all skipped', async () => {
  const { server } = await start();
  await play(server, { ci_run: '100', failed: [FAILING], outcomes: { [SUITE[1]!]: 'skipped' } });
  expect(ranIn(await rerun(server, { ci_run: '101' }))).toEqual([FAILING]);
  expect(await ask(server)).toMatchObject({ reason: null, ci_run: { ci_run: '101', node_seconds: 6, test_files: 6, skipped: 1 } });
});

it('runs no file if all are proved, and is complete', async () => {
  const { server } = await start();
  await play(server, { ci_run: '100' });
  const again = await rerun(server, { ci_run: '101' });
  expect([ranIn(again), again.leftOut!.test_files]).toEqual([[], 6]);
  expect(await gate(server, '101')).toMatchObject({ is_complete: true, test_files: 0, proved: { test_files: 6 } });
  const builds = await server.get('/v1/builds');
  const { state, verdict, proved } = (await server.get(`/v1/builds/${builds.json.data[0].id}/minutes?ci_run=101`)).json;
  expect([state, verdict, proved]).toEqual(['complete', '', { test_files: 6, ci_runs: [expect.objectContaining({ ci_run: '100' })] }]);
});

it('puts the files of several CI runs together, of which the newest that tells of a file decides', async () => {
  const { server, clock } = await start();
  await play(server, { ci_run: '100', failed: SUITE.slice(0, 3) });
  clock.advance({ seconds: 60 });
  expect(ranIn(await rerun(server, { ci_run: '101', failed: [FAILING] }))).toEqual(SUITE.slice(0, 3));
  clock.advance({ seconds: 60 });
  const third = await rerun(server, { ci_run: '102' });
  expect(ranIn(third)).toEqual([FAILING]);
  expect(third.leftOut!.ci_runs.map(({ ci_run }) => ci_run)).toEqual(['101', '100']);
  expect(await reasonOf(server)).toBeNull();
  clock.advance({ days: 1 });
  // The whole list passed in one CI run of this age, and two that are older.
  expect(await reasonOf(server, { max_age: String(DAY + 30) })).toBe('a CI run that proved some of its files began too long ago');
});

describe('the gate of a CI run that left out files', () => {
  it('is not complete if one of them failed since in the CI run that had proved it', async () => {
    const { server } = await start();
    await play(server, { ci_run: '100', failed: [FAILING] });
    await rerun(server, { ci_run: '101' });
    const failed = [{ path: SUITE[1]!, time_execution: 1, outcome: 'failed' }];
    await record(server, { ...BUILD, node_index: 1, ci_build_id: '100', tells_outcomes: true, test_files: failed });
    const { is_complete, errors, may_be_empty } = await gate(server, '101');
    expect([is_complete, may_be_empty]).toEqual([false, false]);
    expect(errors).toEqual([
      `5 test files were left out, since CI run 100 proved them, but ${SUITE[1]} failed since; run the CI run again without --proved`,
    ]);
    expect(await reasonOf(server)).toBe(`${FAILING} and 1 other test file failed`);
  });

  it('is not complete if one of its nodes ran on another tree, or with another key', async () => {
    const { server } = await start();
    await play(server, { ci_run: '100', failed: SUITE.slice(0, 2) });
    await rerun(server, { ci_run: '101' });
    const other = new QueueNode(server, 1, { ...CHECKOUT, tree: 'b'.repeat(40), test_queue_id: '101', ...BUILD });
    await other.start(SUITE);
    await server.service.nodesNoted();
    expect((await gate(server, '101')).errors[0]).toMatch(/, but the tree of node 1 is not known: /);
  });

  it('is not complete if one of its nodes did not tell its tree', async () => {
    const { server } = await start();
    await play(server, { ci_run: '100', failed: SUITE.slice(0, 2) });
    const fields = { test_queue_id: '101', ...BUILD };
    await new QueueNode(server, 0, { ...fields, ...CHECKOUT, proved_max_age: DAY }).initialise(SUITE);
    const silent = new QueueNode(server, 1, fields);
    const connected = await silent.connect();
    expect(connected.json.paths).toHaveLength(1);
    await server.service.nodesNoted();
    expect((await gate(server, '101')).errors[0]).toMatch(/, but node 1 did not tell its tree; /);
  });

  it('names how many files a node with another list has', async () => {
    const { server } = await start();
    await play(server, { ci_run: '100', failed: SUITE.slice(0, 2) });
    const fields = { ...CHECKOUT, test_queue_id: '101', ...BUILD, proved_max_age: DAY };
    const list = (paths: readonly string[]) => ({ ...fields, test_files_digest: digestOfList(paths) });
    await new QueueNode(server, 0, list(SUITE)).initialise(SUITE);
    const other = SUITE.slice(1);
    const reply = await new QueueNode(server, 1, list(other)).initialise(other);
    expect(reply.status).toBe(409);
    expect(JSON.stringify(reply.json)).toContain('the queue was made of 6 test files, and a node lists 5 others');
  });
});

it('shows on the pages of both CI runs what was left out, and counts it in Trends', async () => {
  const { server } = await start();
  await play(server, { ci_run: '100', failed: [FAILING] });
  await rerun(server, { ci_run: '101' });
  await server.service.summarize();
  const [{ id }] = (await server.get('/v1/builds')).json.data;
  const minutes = async (ci_run: string) => (await server.get(`/v1/builds/${id}/minutes?ci_run=${ci_run}`)).json;
  const spared = { count: 1, node_seconds: 5, newest: [{ commit_hash: 'c0ffee1', branch: 'main', ci_run: '101' }] };
  await expect.poll(async () => (await minutes('100')).spared).toMatchObject(spared);
  expect(await minutes('100')).toMatchObject({ proved: null });
  expect(await minutes('101')).toMatchObject({ proved: { test_files: 5, ci_runs: [{ ci_run: '100' }] }, spared: { count: 0 }, files: 1 });
  const trend = (await server.get('/v1/trends/builds?branch=main&days=30')).json;
  expect(trend).toMatchObject({ proved_runs: 1, proved_seconds: 5 });
});

it('names in its receipt the CI runs that proved what it left out', async () => {
  const { server } = await start();
  await play(server, { ci_run: '100', failed: [FAILING] });
  await rerun(server, { ci_run: '101' });
  const [{ id }] = (await server.get('/v1/builds')).json.data;
  const receipt = await server.get(`/v1/builds/${id}/receipt?ci_run=101`);
  expect(receipt.status).toBe(200);
  const { predicate } = JSON.parse(Buffer.from(receipt.json.payload as string, 'base64').toString());
  const { proved } = await gate(server, '101');
  expect(predicate).toMatchObject({ result: 'PASSED', passedTests: expect.arrayContaining(SUITE) as string[] });
  expect(predicate.configuration).toContainEqual({ name: 'proved-by', uri: `urn:uuid:${proved.ci_runs[0].ci_run_id}` });
});
