import { describe, expect } from 'vitest';
import { type Client, type Reply, refusal } from '../../harness/client.js';
import {
  connect,
  type Fields,
  initialise,
  manyPaths,
  pathsIn,
  pull,
  queueMessage,
  readSplit,
  record,
  sortPaths,
  splitMessage,
  testFiles,
  testQueueMessage,
} from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);
const TEXT = { Accept: 'text/plain' };
const allPaths = manyPaths(20);

const lines = ({ text }: Reply) => text.split('\n').slice(0, -1);
const split = (client: Client, more: Fields = {}) => client.post('/v1/build_distributions/subset', splitMessage(more), TEXT);
const wholeList = { cache_read_attempt: false, test_files: testFiles(allPaths) };

function expectText(reply: Reply, status = 200): void {
  expect(reply.status).toBe(status);
  if (reply.text !== '') expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
}

describe('a split as plain text', () => {
  it('has one path per line, the same paths as JSON', async ({ server }) => {
    const nodes = [await split(server, wholeList), await split(server, { ...wholeList, node_index: 1 })];
    for (const node of nodes) expectText(node);
    expect(sortPaths(nodes.flatMap(lines))).toEqual(allPaths);
    const asJson = await readSplit(server);
    expect(lines(nodes[0]!)).toEqual(pathsIn(asJson));
    expect(nodes[0]!.headers.get('x-ballast-split-id')).toBe(asJson.json.build_distribution_id);
    expect(lines(await split(server))).toEqual(lines(nodes[0]!));
  });

  it('is empty for a node that has nothing to run', async ({ server }) => {
    const one = { ...wholeList, test_files: testFiles(['a_spec.rb']) };
    const replies = [await split(server, one), await split(server, { ...one, node_index: 1 })];
    expect(sortPaths(replies.map(({ text }) => text))).toEqual(['', 'a_spec.rb\n']);
    for (const reply of replies) expectText(reply);
  });

  it('that does not exist yet is a 404 with a line that is not a path', async () => {
    const reply = await split(await shared.project());
    expectText(reply, 404);
    expect(reply.text).toBe('TEST_SUITE_SPLIT_CACHE_MISS\n');
  });

  it('refuses a path with a line break', async ({ server }) => {
    const test_files = testFiles(['a\nb_spec.rb']);
    const replies = [await split(server, { ...wholeList, test_files }), await split(server, { ...wholeList, test_files, node_index: 1 })];
    const refused = replies.find(({ status }) => status !== 200)!;
    expect(refused).toMatchObject(
      refusal(
        406,
        'cannot answer in text/plain, which has one path per line: the path "a\\nb_spec.rb" has a line break; send Accept: application/json',
      ),
    );
  });

  it('has errors as JSON', async () => {
    const reply = await split(await shared.project(), { node_index: 'x' });
    expect(reply).toMatchObject(refusal(422, { node_index: expect.anything() as unknown }));
    expect(reply.headers.get('content-type')).toBe('application/json');
  });

  it.each([
    ['*/*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/plain, */*;q=0.1', 'text/plain; charset=utf-8'],
    ['TEXT/PLAIN; charset=utf-8', 'text/plain; charset=utf-8'],
  ])('for Accept: %s has the type %s', async (Accept, type) => {
    const reply = await (await shared.project()).post('/v1/build_distributions/subset', splitMessage(wholeList), { Accept });
    expect(reply.headers.get('content-type')).toBe(type);
  });
});

describe('a queue as plain text', () => {
  it('has one path per line until it is empty', async ({ server }) => {
    const none = await connect(server, {}, TEXT);
    expectText(none, 404);
    expect(none.text).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED\n');
    const first = await server.post(
      '/v1/queues/queue',
      queueMessage({ attempt_connect_to_queue: false, test_files: testFiles(allPaths) }),
      TEXT,
    );
    expectText(first);
    const handed = lines(first);
    for (;;) {
      const batch = await pull(server, {}, TEXT);
      expectText(batch);
      if (batch.text === '') break;
      handed.push(...lines(batch));
    }
    expect(sortPaths(handed)).toEqual(allPaths);
    expect((await pull(server, { node_build_id: 'another' }, TEXT)).status).toBe(422);
  });

  it('keeps a batch that it refuses for a path with a line break', async ({ server }) => {
    await initialise(server, ['a\nb_spec.rb'], { node_total: 1, skip_pull: true });
    expect((await pull(server, { node_total: 1 }, TEXT)).status).toBe(406);
    expect(pathsIn(await pull(server, { node_total: 1 }))).toEqual(['a\nb_spec.rb']);
  });

  it('has a batch id, which the next pull sends to report the batch', async ({ server }) => {
    const send = (more: Fields) => server.post('/v2/queues/queue', testQueueMessage({ node_total: 1, ...more }), TEXT);
    expect(await send({ can_initialize_queue: true, attempt_connect_to_queue: true })).toMatchObject({
      status: 404,
      text: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED\n',
    });
    const first = await send({ can_initialize_queue: true, paths: allPaths });
    expect(sortPaths(lines(first))).toEqual(allPaths);
    const batch_id = first.headers.get('x-ballast-batch-id');
    expect(await send({ batch_index: 1, batch_id, failed_paths: [] })).toMatchObject({ status: 200, text: '' });
    expect((await send({ test_queue_id: 'another' })).status).toBe(422);
  });
});

describe('a queue for a client that requests times', () => {
  it('has the expected time of each file', async ({ server }) => {
    await record(server, { node_total: 1, test_files: [{ path: allPaths[0], time_execution: 5 }] });
    const asked = { node_total: 1, can_initialize_queue: true, paths: allPaths.slice(0, 2), wants_times: 'true' };
    const reply = await server.post('/v2/queues/queue', testQueueMessage(asked));
    const { paths, times } = reply.json as { paths: string[]; times: (number | null)[] };
    expect(Object.fromEntries(paths.map((path, i) => [path, times[i]]))).toEqual({ [allPaths[0]!]: 5, [allPaths[1]!]: null });
  });
});
