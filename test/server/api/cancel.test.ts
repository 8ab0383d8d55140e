import { describe, expect, it } from 'vitest';
import { Clock } from '../../harness/clock.js';
import { getCompleteness, recordPaths } from '../../harness/completeness.js';
import { buildKey, manyPaths, sortPaths } from '../../harness/messages.js';
import { QueueNode } from '../../harness/queue-node.js';
import { startServer, type TestServer } from '../../harness/server.js';

const SUITE = manyPaths(8);
const RUN = '100';

/** A server, and two nodes that work on a queue. */
async function started(): Promise<{ server: TestServer; clock: Clock; nodes: [QueueNode, QueueNode] }> {
  const clock = new Clock();
  const server = await startServer({}, clock.now);
  const nodes = [new QueueNode(server, 0), new QueueNode(server, 1)] as const;
  for (const node of nodes) await node.start(SUITE);
  clock.advance({ seconds: 30 });
  return { server, clock, nodes: [...nodes] };
}

/** Returns the CI run in the list and on its page, and the answer of the gate. */
async function shown(server: TestServer) {
  await server.service.summarize();
  const [line] = (await server.get('/v1/build_summaries')).json.builds;
  const { is_running, state, verdict, wall, nodes } = (await server.get(`/v1/builds/${line.build_id ?? line.ci_run_id}/minutes`)).json;
  const day = (await server.get('/v1/trends/builds')).json.days.at(-1);
  const { status, json } = await getCompleteness(server, { node_build_id: RUN });
  return {
    ...{ is_running, state, verdict, wall },
    cancelled: nodes.flatMap((node: any) => (node.is_cancelled ? node.node_index : [])),
    line: { is_running: line.is_running, state: line.state },
    counted: day && { builds: day.builds, incomplete: day.incomplete, cancelled: day.cancelled, passed: day.passed },
    gate: { status, first: json.errors[0], may_be_empty: json.may_be_empty },
  };
}

const RUNNING = { is_running: true, state: 'running' };
const CANCELLED = { is_running: false, state: 'cancelled' };
const MISSING = { is_running: false, state: 'missing' };
const COMPLETE = { is_running: false, state: 'complete' };

describe('a CI run', () => {
  it('whose nodes at work were all cancelled ends at once, as cancelled, and is never complete', async () => {
    const { server, nodes } = await started();
    expect(await nodes[0].cancel()).toBe(true);
    expect(await shown(server)).toMatchObject({ ...RUNNING, cancelled: [0], line: RUNNING, counted: undefined });
    expect(await nodes[1].cancel()).toBe(true);
    expect(await shown(server)).toMatchObject({
      ...{ ...CANCELLED, cancelled: [0, 1], line: CANCELLED, wall: 30 },
      verdict: expect.stringMatching(/^Nodes 0, 1 were cancelled: 8 test files are missing \(\S+ and 7 more\)\./) as string,
      counted: { builds: 1, incomplete: 0, cancelled: 1, passed: 0 },
      gate: { status: 409, first: 'nodes 0, 1 were cancelled: run the CI run again', may_be_empty: false },
    });
    const [{ ci_run_id }] = (await server.get('/v1/build_summaries')).json.builds;
    const { resourceSpans } = (await server.get(`/v1/builds/${ci_run_id}/trace?format=otlp`)).json;
    const [run, ...spans] = resourceSpans[0].scopeSpans[0].spans;
    expect(run.attributes).toContainEqual({ key: 'cicd.pipeline.result', value: { stringValue: 'cancellation' } });
    const ended = spans.filter(({ name }: any) => name.startsWith('node '));
    expect(ended).toHaveLength(2);
    for (const { attributes } of ended)
      expect(attributes).toContainEqual({ key: 'cicd.pipeline.task.run.result', value: { stringValue: 'cancellation' } });
    for (const { attributes, status } of [run, ...spans]) {
      expect(attributes.map(({ key }: any) => key)).not.toContain('error.type');
      expect(status).toBeUndefined();
    }
  });

  it('whose cancelled nodes recorded what they ran is cancelled likewise', async () => {
    const { server, clock, nodes } = await started();
    for (const { node_index, paths } of nodes) {
      await recordPaths(server, node_index, paths.slice(0, 1), { ci_build_id: RUN });
      if (node_index === 1) await recordPaths(server, 1, paths.slice(0, 1), { ci_build_id: RUN });
    }
    clock.advance({ seconds: 1 });
    for (const node of nodes) await node.cancel();
    expect(await shown(server)).toMatchObject({
      ...{ ...CANCELLED, line: CANCELLED, counted: { builds: 1, incomplete: 0, cancelled: 1 } },
      gate: { status: 409, first: 'nodes 0, 1 were cancelled: run the CI run again', may_be_empty: false },
    });
  });

  it('runs again when a node comes back, in the list, too, and may then complete', async () => {
    const { server, clock, nodes } = await started();
    for (const node of nodes) await node.cancel();
    expect(await shown(server)).toMatchObject(CANCELLED);
    clock.advance({ seconds: 600 });
    const again = [0, 1].map(node => new QueueNode(server, node));
    const ran: [number, string[]][] = [];
    for (const node of again) ran.push([node.node_index, await node.start(SUITE)]);
    expect(await shown(server)).toMatchObject({ ...RUNNING, cancelled: [], line: RUNNING, counted: undefined });
    for (let isLeft = true; isLeft; ) {
      isLeft = false;
      for (const node of again) {
        if (node.paths.length === 0) continue;
        isLeft = true;
        ran.push([node.node_index, await node.next()]);
      }
    }
    clock.advance({ seconds: 10 });
    for (const { node_index } of again)
      await recordPaths(
        server,
        node_index,
        ran.flatMap(([node, paths]) => (node === node_index ? paths : [])),
        { ci_build_id: RUN },
      );
    expect(await shown(server)).toMatchObject({
      ...{ ...COMPLETE, line: COMPLETE },
      counted: { builds: 1, incomplete: 0, cancelled: 0, passed: 1 },
      gate: { status: 200, first: undefined },
    });
  });

  it('of which a single job was ended is complete when the others went on, and ran its files', async () => {
    const { server, clock, nodes } = await started();
    await nodes[0].cancel();
    const ran = [...nodes[1].paths];
    clock.advance({ seconds: 60 });
    while (nodes[1].paths.length > 0) ran.push(...(await nodes[1].next()));
    await recordPaths(server, 1, ran, { ci_build_id: RUN });
    expect(await shown(server)).toMatchObject({
      ...{ ...COMPLETE, cancelled: [0], line: COMPLETE },
      verdict: expect.stringContaining('Node 0 was cancelled, and other nodes ran its files.') as string,
      counted: { builds: 1, incomplete: 0, cancelled: 0, passed: 1 },
      gate: { status: 200 },
    });
  });

  it('runs again in the list, too, when a node comes that had not begun', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    const [first, second] = [new QueueNode(server, 0), new QueueNode(server, 1)];
    await first.start(SUITE);
    await first.cancel();
    expect(await shown(server)).toMatchObject(CANCELLED);
    clock.advance({ seconds: 5 });
    await second.start(SUITE);
    expect(await shown(server)).toMatchObject({ ...RUNNING, line: RUNNING });
  });

  it('of which another node fell silent is no cancelled one', async () => {
    const { server, clock, nodes } = await started();
    await nodes[0].cancel();
    clock.advance({ seconds: 3600 });
    expect(await shown(server)).toMatchObject({
      ...{ ...MISSING, line: MISSING },
      verdict: expect.stringMatching(
        /^Node 0 was cancelled\. Node 1 recorded nothing after the last files that it got: 8 test files are missing \(\S+ and 7 more\)\./,
      ),
      counted: { builds: 1, incomplete: 1, cancelled: 0 },
      gate: { status: 409, first: 'node 0 was cancelled: run the CI run again' },
    });
  });

  it('is complete when others ran the files of a cancelled node', async () => {
    const { server, nodes } = await started();
    await nodes[0].cancel();
    await recordPaths(server, 1, SUITE, { ci_build_id: RUN });
    expect(await shown(server)).toMatchObject({ ...{ is_running: false, state: 'recorded' }, gate: { status: 200 } });
  });

  it('hands nothing to a pull that was on its way when its node was cancelled', async () => {
    const { server, nodes } = await started();
    for (const node of nodes) await node.cancel();
    expect(await nodes[0].next()).toEqual([]);
    expect(await shown(server)).toMatchObject({ ...CANCELLED, cancelled: [0, 1] });
  });

  it('goes on without a node that was cancelled: the others get its files, but not those that it reports as passed', async () => {
    const { server, clock, nodes } = await started();
    const [leaving, staying] = nodes;
    const [passed, ...rest] = leaving.paths;
    await leaving.cancel();
    expect(await leaving.cancel(rest)).toBe(true);
    expect(await leaving.cancel(rest)).toBe(false);
    await recordPaths(server, 0, [passed!], { ci_build_id: RUN });
    clock.advance({ seconds: 40 });
    const ran = [...staying.paths, ...(await staying.pullAll())];
    expect(sortPaths([passed!, ...ran])).toEqual(sortPaths(SUITE));
    expect(ran).toEqual(expect.arrayContaining(rest));
    clock.advance({ seconds: 10 });
    await recordPaths(server, 1, ran, { ci_build_id: RUN });
    expect(await shown(server)).toMatchObject({ ...COMPLETE, cancelled: [0], gate: { status: 200 } });
    const { json } = await getCompleteness(server, { node_build_id: RUN });
    expect(json.handed_on.map(({ path }: any) => path)).toEqual(rest);
  });
});

describe('a cancel', () => {
  it('of a process that has no batch, or was followed by another, changes nothing', async () => {
    const { server, nodes } = await started();
    expect(await new QueueNode(server, 0).cancel()).toBe(false);
    await new QueueNode(server, 0).start(SUITE);
    expect([await nodes[0].cancel(), await nodes[1].cancel(), await nodes[1].cancel()]).toEqual([false, true, false]);
    expect(await shown(server)).toMatchObject({ ...RUNNING, cancelled: [1] });
    const unknown = { ...buildKey, node_index: 0, node_uuid: 'x', test_queue_id: 'unknown' };
    expect(await server.post('/v2/queues/cancel', unknown)).toMatchObject({ status: 200, json: { is_noted: false } });
  });

  it('is refused without its parameters, and without a token', async () => {
    const server = await startServer();
    const required = ['parameter is required'];
    const { status, json } = await server.post('/v2/queues/cancel', { ...buildKey, node_index: 9 });
    expect([status, json.errors]).toEqual([
      422,
      [{ test_queue_id: required, node_uuid: required, node_index: ['must be less than or equal to 1'] }],
    ]);
    const answer = await fetch(`${server.url}/v2/queues/cancel`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(403);
  });
});
