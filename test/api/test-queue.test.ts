import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { digestOfList } from '../../src/list-digest.js';
import type { Client, Reply } from '../harness/client.js';
import { getCompleteness, recordPaths as record } from '../harness/completeness.js';
import { buildKey, type Fields, initialise, manyPaths, pathsIn, pull, pullAll, sortPaths } from '../harness/messages.js';
import { SharedServer, startServer, startServerOnDisk } from '../harness/server.js';

const shared = new SharedServer();
const all = manyPaths(40);

/** A process of a client that tells what it ran. */
class Process {
  readonly node_uuid = randomUUID();
  #index = 0;
  #batch: number | null = null;

  constructor(
    readonly client: Client,
    readonly node_index: number,
    readonly build: Fields = {},
  ) {}

  send(more: Fields, headers: Record<string, string> = {}): Promise<Reply> {
    const { client, node_index, node_uuid } = this;
    return client.post(
      '/v2/queues/queue',
      { ...buildKey, node_index, node_uuid, test_queue_id: '100', user_seat: 'Jo** Do*', ...this.build, ...more },
      headers,
    );
  }

  connect(): Promise<Reply> {
    return this.send({ can_initialize_queue: true, attempt_connect_to_queue: true, batch_index: 0 });
  }

  initialise(paths: readonly string[]): Promise<Reply> {
    return this.send({ can_initialize_queue: true, attempt_connect_to_queue: false, batch_index: 0, paths });
  }

  /** As clients start: they send their files only when there is no queue. */
  async start(paths: readonly string[]): Promise<string[]> {
    let reply = await this.connect();
    if (reply.json.code === 'ATTEMPT_CONNECT_TO_QUEUE_FAILED') reply = await this.initialise(paths);
    return this.#take(reply);
  }

  /** The next batch, when the last one was run. */
  async next(failed_paths: readonly string[] = []): Promise<string[]> {
    this.#index += 1;
    return this.#take(await this.pull(failed_paths));
  }

  /** The request for the next batch, as it is sent and sent again. */
  pull(failed_paths: readonly string[] = []): Promise<Reply> {
    return this.send({
      can_initialize_queue: false,
      attempt_connect_to_queue: false,
      batch_index: this.#index,
      batch_id: this.#batch,
      failed_paths,
    });
  }

  async drain(): Promise<string[]> {
    const paths: string[] = [];
    for (let batch = await this.next(); batch.length > 0; batch = await this.next()) paths.push(...batch);
    return paths;
  }

  #take(reply: Reply): string[] {
    expect(reply).toMatchObject({ status: 200, json: { paths: expect.any(Array) as unknown } });
    this.#batch = reply.json.batch_id;
    expect(this.#batch === null).toBe(reply.json.paths.length === 0);
    return reply.json.paths;
  }
}

describe('a queue for clients that tell what they ran', () => {
  it('is made by the first that sends its files, and hands each of them out once', async () => {
    const server = await shared.project();
    const nodes = [0, 1].map(node => new Process(server, node));
    expect((await nodes[0]!.connect()).json).toMatchObject({ code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED' });
    const first = await Promise.all(nodes.map(node => node.start([...all, all[0]!])));
    const rest = [await nodes[0]!.drain(), await nodes[1]!.drain()];
    expect(sortPaths([...first, ...rest].flat())).toEqual(all);
  });

  it('gives the same batch to the same request', async () => {
    const node = new Process(await shared.project(), 0);
    const first = await node.start(all);
    expect((await node.connect()).json.paths).toEqual(first);
    const second = await node.next();
    expect(second).not.toEqual(first);
    expect((await node.pull()).json.paths).toEqual(second);
  });

  it('ends for a node that comes when all was handed out', async () => {
    const server = await shared.project();
    const node = new Process(server, 0);
    await node.start(all);
    await node.drain();
    expect((await new Process(server, 1).connect()).json).toEqual({ paths: [], batch_id: null });
  });

  it('does not end for a node in mid-run whose queue the server has lost', async () => {
    const server = await shared.project();
    const pulled = await new Process(server, 1, { test_queue_id: 'lost' }).pull();
    expect(pulled.status).toBe(422);
    expect(pulled.json.errors).toEqual([{ test_queue_id: [expect.stringMatching(/^names no queue /)] }]);
  });

  it('is made or found by who takes nothing from it', async () => {
    const server = await shared.project();
    const before = new Process(server, 0, { skip_pull: true });
    expect((await before.connect()).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const url = expect.stringMatching(/^http.*\/v1\/builds\?branch=main&commit_hash=c0ffee1&node_total=2$/) as unknown;
    for (const reply of [await before.initialise(all), await before.connect()])
      expect(reply.json).toEqual({ paths: [], batch_id: null, url });
    const node = new Process(server, 0);
    expect(sortPaths([...(await node.start([])), ...(await node.drain())])).toEqual(all);
  });

  it('is the one of older clients, where a build has both', async () => {
    const server = await shared.project();
    const [first, second] = [pathsIn(await initialise(server, all)), await new Process(server, 1).start(all)];
    const rest = pathsIn(await pull(server));
    expect(rest.length).toBeGreaterThan(0);
    expect(new Set([...first, ...second, ...rest]).size).toBe(first.length + second.length + rest.length);
  });
});

describe('a node that is run again', () => {
  /** Node 0 ran two batches, a file of the first failed, and took a third; then its process was gone. */
  async function afterDeath(server: Client) {
    const node = new Process(server, 0);
    const batches = [await node.start(all)];
    const failed = batches[0]![0]!;
    batches.push(await node.next([failed]), await node.next());
    return { failed, batches };
  }

  it('gets first what failed and what it did not tell to have run, then what is left', async () => {
    const server = await shared.project();
    const { failed, batches } = await afterDeath(server);
    const again = new Process(server, 0);
    expect(await again.start(all)).toEqual([failed, ...batches[2]!]);
    const rest = await again.drain();
    expect(sortPaths([...batches.flat(), ...rest])).toEqual(all);
    // It was green: a third run has nothing to do.
    expect(await new Process(server, 0).start(all)).toEqual([]);
  });

  it('gets it after a restart of the server, too', async () => {
    const server = await startServerOnDisk();
    const { failed, batches } = await afterDeath(server);
    await server.close();
    const restarted = await startServer({ dataDir: server.dataDir });
    expect(await new Process(restarted, 0).start(all)).toEqual([failed, ...batches[2]!]);
  });

  it('gets again what failed again, and all of the batch when it names another file as failed', async () => {
    const server = await shared.project();
    const { failed, batches } = await afterDeath(server);
    const again = new Process(server, 0);
    const had = await again.start(all);
    const rest = [await again.next([failed])];
    rest.push(await again.next(['./something else']));
    expect(await new Process(server, 0).start(all)).toEqual([failed, ...rest[0]!, ...rest[1]!]);
    expect(had).toEqual([failed, ...batches[2]!]);
  });

  it('gets of a file only the test cases that failed, where it named them', async () => {
    const server = await startServerOnDisk();
    const node = new Process(server, 0);
    const files = await node.start(all);
    const [failed = '', ...rest] = files.map(path => `${path}[1:2]`);
    const unheard = await node.next([failed, ...rest]);
    expect(await new Process(server, 0).start(all)).toEqual([failed, ...rest, ...unheard]);
    await server.close();

    const restarted = await startServer({ dataDir: server.dataDir });
    const again = new Process(restarted, 0);
    expect(await again.start(all)).toEqual([failed, ...rest, ...unheard]);
    await again.next([failed, files[1]!]);
    await again.drain();
    // One failed as a whole now.
    expect(await new Process(restarted, 0).start(all)).toEqual([failed, files[1]]);
  });

  it('gets again what it recorded without a time: of a file that cannot be loaded no test fails', async () => {
    const server = await shared.project();
    const node = new Process(server, 0);
    const paths = [...(await node.start(all)), ...(await node.drain())];
    const test_files = paths.map((path, i) => ({ path, time_execution: i === 3 ? 0 : 1 }));
    await server.post('/v1/build_subsets', { ...buildKey, node_index: 0, test_files });
    const again = new Process(server, 0);
    expect(await again.start(all)).toEqual([paths[3]]);
    await again.drain();
    await record(server, 0, [paths[3]!]);
    expect(await new Process(server, 0).start(all)).toEqual([]);
  });

  it('gets the same batch however often it starts', async () => {
    const server = await shared.project();
    const { failed, batches } = await afterDeath(server);
    const had = [];
    for (let i = 0; i < 3; i++) had.push((await new Process(server, 0).connect()).json);
    expect(had).toEqual(Array(3).fill({ paths: [failed, ...batches[2]!], batch_id: had[0].batch_id }));
  });

  it('takes nothing from a node that runs', async () => {
    const server = await shared.project();
    const other = new Process(server, 1);
    const [{ batches }, taken] = [await afterDeath(server), await other.start(all)];
    const again = new Process(server, 0);
    const had = await again.start(all);
    const rest = [...(await other.drain()), ...(await again.drain())];
    expect(sortPaths(new Set([...batches.flat(), ...had, ...taken, ...rest]))).toEqual(all);
    expect(taken.filter(path => had.includes(path))).toEqual([]);
  });
});

describe('what failed the last time on a branch', () => {
  const failedOn = async (client: Client, branch: string) => (await client.get(`/v2/test_paths?branch=${encodeURIComponent(branch)}`)).json;

  it('is told until it was run again without a failure', async () => {
    const server = await shared.project();
    const branch = 'a branch';
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [] });
    const node = new Process(server, 0, { branch });
    const [first = '', second = '', ...more] = await node.start(all);
    await node.next([`${first}[1:2]`, second]);
    await node.drain();
    // Of the newest build with a recorded run.
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [] });
    await server.post('/v1/build_subsets', {
      ...buildKey,
      branch,
      node_index: 0,
      test_files: more.map(path => ({ path, time_execution: 1 })),
    });
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [`${first}[1:2]`, second] });
    expect(await failedOn(server, 'main')).toEqual({ failed_paths: [] });

    const again = new Process(server, 0, { branch });
    await again.start(all);
    await again.next([second]);
    expect(await failedOn(server, branch)).toEqual({ failed_paths: [second] });
  });

  it('is asked for by branch', async () => {
    expect(await shared.get('/v2/test_paths')).toMatchObject({ status: 422, json: { errors: [{ branch: ['parameter is required'] }] } });
  });
});

describe('what is wrong with it', () => {
  it('is told by parameter', async () => {
    const reply = await shared.post('/v2/queues/queue', {
      ...buildKey,
      node_index: 5,
      can_initialize_queue: true,
      attempt_connect_to_queue: false,
      batch_index: -1,
      failed_paths: 'a',
    });
    expect(reply).toMatchObject({
      status: 422,
      json: {
        errors: [
          {
            node_index: ['must be less than or equal to 1'],
            node_uuid: ['parameter is required'],
            test_queue_id: ['parameter is required'],
            batch_index: ['must be greater than or equal to 0'],
            failed_paths: ['is not an array'],
            paths: ['parameter is required'],
          },
        ],
      },
    });
  });

  it('is told by position in the list', async () => {
    const node = new Process(await shared.project(), 0);
    expect(await node.initialise(['a_spec.rb', 'a', 5 as never])).toMatchObject({
      status: 422,
      json: { errors: [{ paths: [{ 1: ['is too short (minimum is 3 characters)'] }, { 2: ['is not a string'] }] }] },
    });
  });

  it('changes nothing when a batch is told that the node never had', async () => {
    const server = await shared.project();
    const [node, other] = [new Process(server, 0), new Process(server, 1)];
    const first = await node.start(all);
    const had = await other.send({
      can_initialize_queue: false,
      attempt_connect_to_queue: false,
      batch_index: 1,
      batch_id: 0,
      failed_paths: [],
    });
    expect(had.json.paths.length).toBeGreaterThan(0);
    expect(await new Process(server, 0).start(all)).toEqual(first);
  });
});

describe('whether every file was run', () => {
  it('is told by the nodes, where one was gone before it recorded', async () => {
    const server = await shared.project();
    const node = new Process(server, 0);
    const first = await node.start(all);
    const second = await node.next();
    const again = new Process(server, 0);
    const rest = [...(await again.start(all)), ...(await again.drain())];
    expect(sortPaths([...first, ...rest])).toEqual(all);
    expect(rest).toEqual(expect.arrayContaining(second));
    await record(server, 0, rest);
    expect(await getCompleteness(server, { node_build_id: '100' })).toMatchObject({
      status: 200,
      json: { recorded: rest.length, ran_not_recorded: first.map(path => ({ path, node_index: 0 })) },
    });
  });

  it('is not, where it failed and was gone before it ran again', async () => {
    const server = await shared.project();
    const node = new Process(server, 0);
    const failed = (await node.start(all))[0]!;
    await node.next([failed]);
    await node.drain();
    const again = new Process(server, 0);
    expect(await again.start(all)).toEqual([failed]);
    expect(await getCompleteness(server, { test_queue_id: '100' })).toMatchObject({
      status: 409,
      json: { handed_out_not_recorded: [{ path: failed, node_index: 0 }] },
    });
    // Run without a failure, it is, once the node has recorded: until then it may have ended early.
    await again.next();
    expect(await getCompleteness(server, { test_queue_id: '100' })).toMatchObject({
      status: 409,
      json: { errors: [expect.stringMatching(/run and not recorded: node 0 recorded nothing since/)] },
    });
    await record(server, 0, [failed]);
    expect((await getCompleteness(server, { test_queue_id: '100' })).status).toBe(200);
  });

  it('is doubted when a node that came again and was given something is gone, though it recorded before', async () => {
    const server = await shared.project();
    const node = new Process(server, 0);
    const [failed = '', ...rest] = await node.start(all);
    await record(server, 0, [failed, ...rest, ...(await node.next([failed])), ...(await node.drain())]);
    expect((await getCompleteness(server, { test_queue_id: '100' })).status).toBe(200);
    const again = new Process(server, 0);
    await again.start(all);
    expect(await getCompleteness(server, { test_queue_id: '100' })).toMatchObject({
      status: 409,
      json: { errors: [expect.stringMatching(/^node 0 restarted /)] },
    });
    await again.next();
    expect((await getCompleteness(server, { test_queue_id: '100' })).status).toBe(200);
  });

  it('is doubted of a node whose client tells nothing, in the same queue', async () => {
    const server = await shared.project();
    const [first, other] = [await new Process(server, 0).start(all), new Process(server, 0)];
    const old = { node_index: 1, node_build_id: '100' };
    const had = [...pathsIn(await pull(server, old)), ...(await pullAll(server, old))];
    await record(server, 1, had);
    await record(server, 0, first);
    expect((await getCompleteness(server, { node_build_id: '100' })).status).toBe(200);
    await initialise(server, all, old);
    expect(await getCompleteness(server, { node_build_id: '100' })).toMatchObject({
      status: 409,
      json: { errors: [expect.stringMatching(/^node 1 ran nothing /)] },
    });
    expect(other.node_index).toBe(0);
  });

  it('is not doubted when a green node was run again', async () => {
    const server = await shared.project();
    const node = new Process(server, 0);
    await record(server, 0, [...(await node.start(all)), ...(await node.drain())]);
    expect(await new Process(server, 0).start(all)).toEqual([]);
    await record(server, 0, []);
    expect(await getCompleteness(server, { node_build_id: '100' })).toMatchObject({ status: 200, json: { errors: [] } });
  });
});

describe('nodes with different lists', () => {
  const digest = (paths: readonly string[]) => ({ test_files_digest: digestOfList(paths) });
  const EXTRA = 'spec/extra_spec.rb';

  it('have no queue together, when they say which list they have', async () => {
    const server = await shared.project();
    const [first, other] = [new Process(server, 0), new Process(server, 1)];
    const list = [...all, EXTRA];
    expect(
      (await first.send({ can_initialize_queue: true, attempt_connect_to_queue: false, batch_index: 0, paths: all, ...digest(all) }))
        .status,
    ).toBe(200);
    const connected = await other.send({ can_initialize_queue: true, attempt_connect_to_queue: true, batch_index: 0, ...digest(list) });
    expect(connected.json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    const refused = await other.send({
      can_initialize_queue: true,
      attempt_connect_to_queue: false,
      batch_index: 0,
      paths: list,
      ...digest(list),
    });
    expect(refused.status).toBe(409);
    expect(refused.json.errors).toEqual([
      expect.stringContaining(
        `made of ${all.length} test files, and this node lists ${list.length}: none only in the queue, "${EXTRA}" only on this node`,
      ),
    ]);
    const pulled = await other.send({ can_initialize_queue: false, attempt_connect_to_queue: false, batch_index: 1, ...digest(list) });
    expect(pulled.status).toBe(409);
    // The same list in another order is the same.
    const same = await new Process(server, 1).send({
      can_initialize_queue: true,
      attempt_connect_to_queue: true,
      batch_index: 0,
      ...digest([...all].reverse()),
    });
    expect(same.status).toBe(200);
  });

  it('that come at once: one makes the queue, the other is refused', async () => {
    const server = await shared.project();
    const lists = [all, [...all, EXTRA]];
    const replies = await Promise.all(
      lists.map((paths, node) =>
        new Process(server, node).send({
          can_initialize_queue: true,
          attempt_connect_to_queue: false,
          batch_index: 0,
          paths,
          ...digest(paths),
        }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
