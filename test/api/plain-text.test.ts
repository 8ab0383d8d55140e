import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Client, Reply } from '../harness/client.js';
import {
  connect,
  type Fields,
  initialise,
  listed,
  manyPaths,
  pathsOf,
  pull,
  queueMessage,
  readSplit,
  sorted,
  splitMessage,
  triple,
} from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';

const shared = new SharedServer();
const TEXT = { Accept: 'text/plain' };
const all = manyPaths(20);

const lines = ({ text }: Reply) => text.split('\n').slice(0, -1);
const split = (client: Client, more: Fields = {}) => client.post('/v1/build_distributions/subset', splitMessage(more), TEXT);
const whole = { cache_read_attempt: false, test_files: listed(all) };

function expectText(reply: Reply, status = 200): void {
  expect(reply.status).toBe(status);
  if (reply.text !== '') expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
}

describe('a split for a shell', () => {
  it('has a path a line, the same ones that JSON has', async () => {
    const server = await shared.project();
    const nodes = [await split(server, whole), await split(server, { ...whole, node_index: 1 })];
    for (const node of nodes) expectText(node);
    expect(sorted(nodes.flatMap(lines))).toEqual(all);
    const asJson = await readSplit(server);
    expect(lines(nodes[0]!)).toEqual(pathsOf(asJson));
    expect(nodes[0]!.headers.get('x-ballast-split-id')).toBe(asJson.json.build_distribution_id);
    expect(lines(await split(server))).toEqual(lines(nodes[0]!));
  });

  it('is empty for a node that has nothing to run', async () => {
    const server = await shared.project();
    const one = { ...whole, test_files: listed(['a_spec.rb']) };
    const replies = [await split(server, one), await split(server, { ...one, node_index: 1 })];
    expect(sorted(replies.map(({ text }) => text))).toEqual(['', 'a_spec.rb\n']);
    for (const reply of replies) expectText(reply);
  });

  it('that is not there yet is no success, and no path that exists', async () => {
    const reply = await split(await shared.project());
    expectText(reply, 404);
    expect(reply.text).toBe('TEST_SUITE_SPLIT_CACHE_MISS\n');
  });

  it('refuses a path that would be two lines', async () => {
    const server = await shared.project();
    const test_files = listed(['a\nb_spec.rb']);
    const replies = [await split(server, { ...whole, test_files }), await split(server, { ...whole, test_files, node_index: 1 })];
    const refused = replies.find(({ status }) => status !== 200)!;
    expect(refused).toMatchObject({
      status: 406,
      json: {
        errors: [
          'cannot answer in text/plain, which has one path per line: the path "a\\nb_spec.rb" has a line break; send Accept: application/json',
        ],
      },
    });
  });

  it('has its errors as JSON', async () => {
    const reply = await split(await shared.project(), { node_index: 'x' });
    expect(reply).toMatchObject({ status: 422, json: { errors: [{ node_index: expect.anything() as unknown }] } });
    expect(reply.headers.get('content-type')).toBe('application/json');
  });

  it.each([
    ['*/*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/plain, */*;q=0.1', 'text/plain; charset=utf-8'],
    ['TEXT/PLAIN; charset=utf-8', 'text/plain; charset=utf-8'],
  ])('is given for Accept: %s as %s', async (Accept, type) => {
    const reply = await (await shared.project()).post('/v1/build_distributions/subset', splitMessage(whole), { Accept });
    expect(reply.headers.get('content-type')).toBe(type);
  });
});

describe('a queue for a shell', () => {
  it('gives a path a line until it is empty', async () => {
    const server = await shared.project();
    const none = await connect(server, {}, TEXT);
    expectText(none, 404);
    expect(none.text).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED\n');
    const first = await server.post('/v1/queues/queue', queueMessage({ attempt_connect_to_queue: false, test_files: listed(all) }), TEXT);
    expectText(first);
    const ran = lines(first);
    for (;;) {
      const batch = await pull(server, {}, TEXT);
      expectText(batch);
      if (batch.text === '') break;
      ran.push(...lines(batch));
    }
    expect(sorted(ran)).toEqual(all);
    expect((await pull(server, { node_build_id: 'another' }, TEXT)).status).toBe(422);
  });

  it('keeps a batch that cannot be told in lines for whoever can read it', async () => {
    const server = await shared.project();
    await initialise(server, ['a\nb_spec.rb'], { node_total: 1, skip_pull: true });
    expect((await pull(server, { node_total: 1 }, TEXT)).status).toBe(406);
    expect(pathsOf(await pull(server, { node_total: 1 }))).toEqual(['a\nb_spec.rb']);
  });

  it('names the batch that the next pull of a client that tells what it ran brings back', async () => {
    const server = await shared.project();
    const node = { ...triple, node_total: 1, node_index: 0, test_queue_id: '1', user_seat: '', node_uuid: randomUUID() };
    const send = (more: Fields, headers = TEXT) =>
      server.post('/v2/queues/queue', { ...node, can_initialize_queue: false, attempt_connect_to_queue: false, ...more }, headers);
    expect(await send({ can_initialize_queue: true, attempt_connect_to_queue: true, batch_index: 0 })).toMatchObject({
      status: 404,
      text: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED\n',
    });
    const first = await send({ can_initialize_queue: true, batch_index: 0, paths: all });
    expect(sorted(lines(first))).toEqual(all);
    const batch_id = first.headers.get('x-ballast-batch-id');
    expect(await send({ batch_index: 1, batch_id, failed_paths: [] })).toMatchObject({ status: 200, text: '' });
    expect((await send({ batch_index: 0, test_queue_id: 'another' })).status).toBe(422);
  });
});

describe('a queue for a client that wants times', () => {
  it('tells what each file should take', async () => {
    const server = await shared.project();
    await server.post('/v1/build_subsets', { ...triple, node_total: 1, node_index: 0, test_files: [{ path: all[0], time_execution: 5 }] });
    const reply = await server.post('/v2/queues/queue', {
      ...triple,
      node_total: 1,
      node_index: 0,
      test_queue_id: '1',
      node_uuid: randomUUID(),
      can_initialize_queue: true,
      attempt_connect_to_queue: false,
      batch_index: 0,
      paths: all.slice(0, 2),
      wants_times: 'true',
    });
    const { paths, times } = reply.json as { paths: string[]; times: (number | null)[] };
    expect(Object.fromEntries(paths.map((path, i) => [path, times[i]]))).toEqual({ [all[0]!]: 5, [all[1]!]: null });
  });
});
