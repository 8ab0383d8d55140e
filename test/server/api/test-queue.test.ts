import { describe, expect } from 'vitest';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import { type Client, refusal } from '../../harness/client.js';
import { expectCompleteness, recordPaths as record } from '../../harness/completeness.js';
import { buildKey, initialise, manyPaths, pathsIn, pull, pullAll, sortPaths, timedTestFiles } from '../../harness/messages.js';
import { QueueNode } from '../../harness/queue-node.js';
import { SharedServer, startServer, startServerOnDisk, testsWith } from '../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);
const suite = manyPaths(40);

describe('a queue for clients that report their batches', () => {
  it('is created by the first node that sends its files, and hands out each file once', async ({ server }) => {
    const nodes = [0, 1].map(node => new QueueNode(server, node));
    expect((await nodes[0]!.connect()).json).toMatchObject({ code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED' });
    const first = await Promise.all(nodes.map(node => node.start([...suite, suite[0]!])));
    const rest = [await nodes[0]!.pullAll(), await nodes[1]!.pullAll()];
    expect(sortPaths([...first, ...rest].flat())).toEqual(suite);
  });

  it('repeats the batch for a repeated request', async () => {
    const node = new QueueNode(await shared.project(), 0);
    const first = await node.start(suite);
    expect((await node.connect()).json.paths).toEqual(first);
    const second = await node.next();
    expect(second).not.toEqual(first);
    expect((await node.pull()).json.paths).toEqual(second);
  });

  it('is refused, not empty, to a running node if the server has lost it', async ({ server }) => {
    const pulled = await new QueueNode(server, 1, { test_queue_id: 'lost' }).pull();
    expect(pulled).toMatchObject(refusal(422, { test_queue_id: [expect.stringMatching(/^names no queue /)] }));
  });

  it('is created or found by a request that skips the pull', async ({ server }) => {
    const before = new QueueNode(server, 0, { skip_pull: true });
    expect((await before.connect()).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const url = expect.stringMatching(/^http.*\/v1\/builds\?branch=main&commit_hash=c0ffee1&node_total=2$/) as unknown;
    for (const reply of [await before.initialise(suite), await before.connect()])
      expect(reply.json).toEqual({ paths: [], batch_id: null, url });
    const node = new QueueNode(server, 0);
    expect(sortPaths([...(await node.start([])), ...(await node.pullAll())])).toEqual(suite);
  });

  it('tells a node that joins what it holds and when it should end, if the node wants times', async ({ server }) => {
    const seconds = Object.fromEntries(suite.slice(1).map(path => [path, 10]));
    await server.post('/v1/build_subsets', { ...buildKey, node_index: 0, test_files: timedTestFiles(seconds) });
    const node = new QueueNode(server, 0, { test_queue_id: 'forecast' });
    expect((await node.initialise(suite)).json).not.toHaveProperty('forecast');
    const { forecast } = (await new QueueNode(server, 1, { test_queue_id: 'forecast', wants_times: true }).connect()).json;
    expect(forecast).toMatchObject({ test_files: 40, unknown_files: 1 });
    const { share, earliest_in, ends_in, latest_in } = forecast;
    // Two nodes share about 400 s.
    expect([share > 150, share < 250, ends_in > 190, ends_in < 230]).toEqual([true, true, true, true]);
    expect([earliest_in < ends_in, ends_in < latest_in]).toEqual([true, true]);
  });

  it('says that it does not know its end while most files were never measured, and tells a pull nothing of it', async ({ server }) => {
    const node = new QueueNode(server, 0, { wants_times: true });
    const unknown = { share: null, ends_in: null, earliest_in: null, latest_in: null };
    expect((await node.initialise(suite)).json.forecast).toEqual({ test_files: 40, unknown_files: 40, ...unknown });
    expect((await node.pull()).json).not.toHaveProperty('forecast');
  });

  it('tells with the times of a batch what the queue has learned, also with one that its node gets again', async ({ server }) => {
    await server.post('/v1/build_subsets', { ...buildKey, node_index: 0, test_files: timedTestFiles({ [suite[0]!]: 10 }) });
    const learned = { hidden: expect.any(Number) as number, slowdown: expect.any(Number) as number };
    const asked = { test_queue_id: 'learned', wants_times: true };
    const first = (await new QueueNode(server, 0, asked).initialise(suite)).json;
    expect(first).toMatchObject({ learned });
    expect((await new QueueNode(server, 0, asked).connect()).json).toMatchObject({ paths: first.paths, learned: first.learned });
    expect((await new QueueNode(server, 0, { test_queue_id: 'learned' }).connect()).json).not.toHaveProperty('learned');
  });

  it('is shared with older clients of the same CI run', async ({ server }) => {
    const [first, second] = [pathsIn(await initialise(server, suite)), await new QueueNode(server, 1).start(suite)];
    const rest = pathsIn(await pull(server));
    expect(rest.length).toBeGreaterThan(0);
    expect(new Set([...first, ...second, ...rest]).size).toBe(first.length + second.length + rest.length);
  });
});

describe('a node that restarts', () => {
  /** Node 0 runs two batches, of which a file of the first fails, pulls a third one and dies. */
  async function afterDeath(server: Client) {
    const node = new QueueNode(server, 0);
    const batches = [await node.start(suite)];
    const failed = batches[0]![0]!;
    batches.push(await node.next([failed]), await node.next());
    return { failed, batches };
  }

  it('gets its failed files and unreported batches first, and then the remaining files', async ({ server }) => {
    const { failed, batches } = await afterDeath(server);
    const again = new QueueNode(server, 0);
    expect(await again.start(suite)).toEqual([failed, ...batches[2]!]);
    const rest = await again.pullAll();
    expect(sortPaths([...batches.flat(), ...rest])).toEqual(suite);
    // The restart was green, so the next one has nothing to run.
    expect(await new QueueNode(server, 0).start(suite)).toEqual([]);
  });

  it('gets a file that failed again, and a whole batch that it reported with an unknown failed file', async ({ server }) => {
    const { failed, batches } = await afterDeath(server);
    const again = new QueueNode(server, 0);
    const handed = await again.start(suite);
    const rest = [await again.next([failed])];
    rest.push(await again.next(['./something else']));
    expect(await new QueueNode(server, 0).start(suite)).toEqual([failed, ...rest[0]!, ...rest[1]!]);
    expect(handed).toEqual([failed, ...batches[2]!]);
  });

  it('gets only the failed test cases of a file if it reported them', async () => {
    const server = await startServerOnDisk();
    const node = new QueueNode(server, 0);
    const files = await node.start(suite);
    const [failed = '', ...rest] = files.map(path => `${path}[1:2]`);
    const unheard = await node.next([failed, ...rest]);
    expect(await new QueueNode(server, 0).start(suite)).toEqual([failed, ...rest, ...unheard]);
    await server.close();

    const restarted = await startServer({ dataDir: server.dataDir });
    const again = new QueueNode(restarted, 0);
    expect(await again.start(suite)).toEqual([failed, ...rest, ...unheard]);
    await again.next([failed, files[1]!]);
    await again.pullAll();
    // Now a whole file has failed.
    expect(await new QueueNode(restarted, 0).start(suite)).toEqual([failed, files[1]]);
  });

  it('gets files that it recorded without a time, because a file that cannot be loaded has no failed test', async ({ server }) => {
    const node = new QueueNode(server, 0);
    const paths = [...(await node.start(suite)), ...(await node.pullAll())];
    const test_files = paths.map((path, i) => ({ path, time_execution: i === 3 ? 0 : 1 }));
    await server.post('/v1/build_subsets', { ...buildKey, node_index: 0, test_files });
    const again = new QueueNode(server, 0);
    expect(await again.start(suite)).toEqual([paths[3]]);
    await again.pullAll();
    await record(server, 0, [paths[3]!]);
    expect(await new QueueNode(server, 0).start(suite)).toEqual([]);
  });

  it('gets the same batch each time it restarts', async ({ server }) => {
    const { failed, batches } = await afterDeath(server);
    const handed = [];
    for (let i = 0; i < 3; i++) handed.push((await new QueueNode(server, 0).connect()).json);
    expect(handed).toEqual(Array(3).fill({ paths: [failed, ...batches[2]!], batch_id: handed[0].batch_id }));
  });

  it('gets no file of another node that still runs', async ({ server }) => {
    const other = new QueueNode(server, 1);
    const [{ batches }, taken] = [await afterDeath(server), await other.start(suite)];
    const again = new QueueNode(server, 0);
    const handed = await again.start(suite);
    const rest = [...(await other.pullAll()), ...(await again.pullAll())];
    expect(sortPaths(new Set([...batches.flat(), ...handed, ...taken, ...rest]))).toEqual(suite);
    expect(taken.filter(path => handed.includes(path))).toEqual([]);
  });
});

describe('GET /v2/test_paths', () => {
  const failedOn = async (client: Client, branch: string) => (await client.get(`/v2/test_paths?branch=${encodeURIComponent(branch)}`)).json;

  it('has the files of a branch that failed, until they run without a failure', async ({ server }) => {
    const branch = 'a branch';
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [] });
    const node = new QueueNode(server, 0, { branch });
    const [first = '', second = '', ...more] = await node.start(suite);
    await node.next([`${first}[1:2]`, second]);
    await node.pullAll();
    // Only builds with a recorded run count.
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [] });
    await record(server, 0, more, { branch });
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [`${first}[1:2]`, second] });
    expect(await failedOn(server, 'main')).toEqual({ failed_paths: [] });

    const again = new QueueNode(server, 0, { branch });
    await again.start(suite);
    await again.next([second]);
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [second] });
  });
});

describe('an invalid request', () => {
  it('gets the errors by parameter', async () => {
    const reply = await shared.post('/v2/queues/queue', {
      ...buildKey,
      node_index: 5,
      can_initialize_queue: true,
      attempt_connect_to_queue: false,
      batch_index: -1,
      failed_paths: 'a',
    });
    expect(reply).toMatchObject(
      refusal(422, {
        node_index: ['must be less than or equal to 1'],
        node_uuid: ['parameter is required'],
        test_queue_id: ['parameter is required'],
        batch_index: ['must be greater than or equal to 0'],
        failed_paths: ['is not an array'],
        paths: ['parameter is required'],
      }),
    );
  });

  it('gets the errors of a list by position', async () => {
    const node = new QueueNode(await shared.project(), 0);
    expect(await node.initialise(['a_spec.rb', 'a', 5 as never])).toMatchObject(
      refusal(422, { paths: [{ 1: ['is too short (minimum is 3 characters)'] }, { 2: ['is not a string'] }] }),
    );
  });

  it('that reports a batch of another node changes nothing', async ({ server }) => {
    const [node, other] = [new QueueNode(server, 0), new QueueNode(server, 1)];
    const first = await node.start(suite);
    expect((await other.pull([], { batch_index: 1, batch_id: 0 })).json.paths.length).toBeGreaterThan(0);
    expect(await new QueueNode(server, 0).start(suite)).toEqual(first);
  });
});

describe('the completeness of a queue with reported batches', () => {
  it('includes batches that a node reported before it died without a recording', async ({ server }) => {
    const node = new QueueNode(server, 0);
    const first = await node.start(suite);
    const second = await node.next();
    const again = new QueueNode(server, 0);
    const rest = [...(await again.start(suite)), ...(await again.pullAll())];
    expect(sortPaths([...first, ...rest])).toEqual(suite);
    expect(rest).toEqual(expect.arrayContaining(second));
    await record(server, 0, rest);
    await expectCompleteness(server, { node_build_id: '100' }, 200, {
      recorded: rest.length,
      ran_not_recorded: first.map(path => ({ path, node_index: 0 })),
    });
  });

  it('excludes a file that failed until it runs again and is recorded', async ({ server }) => {
    const node = new QueueNode(server, 0);
    const failed = (await node.start(suite))[0]!;
    await node.next([failed]);
    await node.pullAll();
    const again = new QueueNode(server, 0);
    expect(await again.start(suite)).toEqual([failed]);
    await expectCompleteness(server, { test_queue_id: '100' }, 409, { handed_out_not_recorded: [{ path: failed, node_index: 0 }] });
    // The file has run without a failure, but the node may have ended before it recorded that.
    await again.next();
    await expectCompleteness(server, { test_queue_id: '100' }, 409, {
      errors: [expect.stringMatching(/run and not recorded: node 0 recorded nothing since/)],
    });
    await record(server, 0, [failed]);
    await expectCompleteness(server, { test_queue_id: '100' }, 200);
  });

  it('excludes a node that restarted and was handed files, even if it recorded a run before', async ({ server }) => {
    const node = new QueueNode(server, 0);
    const [failed = '', ...rest] = await node.start(suite);
    await record(server, 0, [failed, ...rest, ...(await node.next([failed])), ...(await node.pullAll())]);
    await expectCompleteness(server, { test_queue_id: '100' }, 200);
    const again = new QueueNode(server, 0);
    await again.start(suite);
    await expectCompleteness(server, { test_queue_id: '100' }, 409, { errors: [expect.stringMatching(/^node 0 restarted /)] });
    await again.next();
    await expectCompleteness(server, { test_queue_id: '100' }, 200);
  });

  it('excludes a restarted node of an older client in the same queue', async ({ server }) => {
    const first = await new QueueNode(server, 0).start(suite);
    const old = { node_index: 1, node_build_id: '100' };
    const handed = [...pathsIn(await pull(server, old)), ...(await pullAll(server, old))];
    await record(server, 1, handed);
    await record(server, 0, first);
    await expectCompleteness(server, { node_build_id: '100' }, 200);
    await initialise(server, suite, old);
    await expectCompleteness(server, { node_build_id: '100' }, 409, { errors: [expect.stringMatching(/^node 1 ran nothing /)] });
  });

  it('includes a green node that restarted', async ({ server }) => {
    const node = new QueueNode(server, 0);
    await record(server, 0, [...(await node.start(suite)), ...(await node.pullAll())]);
    expect(await new QueueNode(server, 0).start(suite)).toEqual([]);
    await record(server, 0, []);
    await expectCompleteness(server, { node_build_id: '100' }, 200, { errors: [] });
  });
});

it('the sizes of the files decide which are handed out first while nothing was measured', async ({ server }) => {
  const paths = suite.toReversed();
  const sizes = suite.map((_, i) => (i === 7 ? 5000 : 100));
  const wrong = await new QueueNode(server, 0).initialise(paths, { sizes: sizes.slice(1) });
  expect([wrong.status, wrong.json]).toEqual([422, { errors: [{ sizes: ['has 39 entries for 40 distinct paths'] }] }]);
  expect((await new QueueNode(server, 0).initialise(paths, { sizes: [-1, ...sizes.slice(1)] })).status).toBe(422);
  const reply = await new QueueNode(server, 0).initialise(paths, { sizes });
  expect(reply.json.paths[0]).toBe(suite[7]);
});

describe('nodes with different lists', () => {
  const digest = (paths: readonly string[]) => ({ test_files_digest: digestOfList(paths) });
  const EXTRA = 'spec/extra_spec.rb';

  it('cannot share a queue if they send digests of their lists', async ({ server }) => {
    const [first, other] = [new QueueNode(server, 0), new QueueNode(server, 1)];
    const list = [...suite, EXTRA];
    expect((await first.initialise(suite, digest(suite))).status).toBe(200);
    expect((await other.connect(digest(list))).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const difference = `made of ${suite.length} test files, and this node lists ${list.length}: none only in the queue, "${EXTRA}" only on this node`;
    expect(await other.initialise(list, digest(list))).toMatchObject(refusal(409, expect.stringContaining(difference)));
    expect((await other.pull([], { batch_index: 1, ...digest(list) })).status).toBe(409);
    // The order of the list does not matter.
    expect((await new QueueNode(server, 1).connect(digest([...suite].reverse()))).status).toBe(200);
  });

  it('that start at the same time: one creates the queue, the other is refused', async ({ server }) => {
    const lists = [suite, [...suite, EXTRA]];
    const replies = await Promise.all(lists.map((paths, node) => new QueueNode(server, node).initialise(paths, digest(paths))));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
