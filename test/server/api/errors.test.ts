import { describe, expect } from 'vitest';
import { type Client, refusal } from '../../harness/client.js';
import { readSplit, splitMessage, subsetMessage, uuidPattern } from '../../harness/messages.js';
import { SharedServer, startServer, testsWith } from '../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);
const server: Client = shared;

describe('a request to an unknown endpoint', () => {
  it.each([
    ['POST', '/'],
    ['GET', '/v1'],
    ['POST', '/v1/nothing'],
    ['GET', '/v1/builds/one/two'],
    ['GET', '/build_subsets'],
    ['DELETE', '/__proto__'],
  ])('%s %s gets a 404', async (method, path) => {
    expect(await server.send(path, { method })).toMatchObject(
      refusal(404, `there is no ${method} ${path}; the paths of the API begin with /v1`),
    );
  });

  it.each([
    ['GET', '/v1/build_subsets', 'POST'],
    ['PUT', '/v1/build_distributions/subset', 'POST'],
    ['POST', '/v1/build_distributions/last', 'GET, HEAD'],
    ['DELETE', '/v1/queues/queue', 'POST'],
    ['PATCH', '/v1/builds', 'GET, HEAD'],
    ['OPTIONS', '/v1/builds/5', 'GET, HEAD'],
  ])('%s %s gets a 405', async (method, path, allow) => {
    const reply = await server.send(path, { method });
    const errors = [`${method} is not allowed on ${path}; use ${allow}`];
    expect(reply).toMatchObject(refusal(405, ...errors));
    expect(reply.headers.get('allow')).toBe(allow);
  });

  it.each([
    ['/v2/paths', 'version 2 of the API are /v2/queues/queue, /v2/queues/heartbeat, /v2/queues/cancel, /v2/test_paths and /v2/test_cases'],
    ['/v1/v2/queues/queue', 'leave that out'],
  ])('of another version, %s, gets a 422 that names the cause', async (path, cause) => {
    expect(await server.post(path, {})).toMatchObject(refusal(422, expect.stringContaining(cause)));
  });
});

describe('a body that cannot be read', () => {
  it.each<[situation: string, body: string | Uint8Array, reason: string]>([
    ['an empty one', '', 'it is empty'],
    ['a truncated one', '{"branch":"main"', 'it cannot be parsed'],
    ['a form', 'branch=main&node_total=2', 'it cannot be parsed'],
    ['a list', '[{"branch":"main"}]', 'it must be an object with the parameters'],
    ['a text', '"main"', 'it must be an object with the parameters'],
    ['null', 'null', 'it must be an object with the parameters'],
    ['one in Latin-1', Buffer.from('{"branch":"größe"}', 'latin1'), 'it is not UTF-8'],
    ['a large truncated one', `{"branch":"${'m'.repeat(100_000)}`, 'it cannot be parsed'],
    ['a large one in Latin-1', Buffer.from(`{"branch":"${'ö'.repeat(100_000)}"}`, 'latin1'), 'it is not UTF-8'],
  ])('%s gets a 400', async (_, body, reason) => {
    for (const path of ['/v1/build_subsets', '/v1/build_distributions/subset', '/v1/queues/queue']) {
      expect(await server.post(path, body)).toMatchObject(refusal(400, `the request body is not valid JSON: ${reason}`));
    }
  });

  it.each(['application/xml', 'text/html; charset=utf-8', 'multipart/form-data; boundary=x', 'image/png'])(
    'of the type %s gets a 415',
    async type => {
      expect(await server.post('/v1/build_subsets', subsetMessage(), { 'Content-Type': type })).toMatchObject(
        refusal(415, `cannot read a body of the type ${type}; send application/json`),
      );
    },
  );

  it('may have another JSON type, text/plain or no type', async ({ server }) => {
    const types = ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json', 'text/plain'];
    for (const type of types) {
      const reply = await server.post('/v1/build_subsets', subsetMessage(), { 'Content-Type': type });
      expect(reply).toMatchObject({ status: 201, text: '' });
    }
    const untyped = await server.send('/v1/build_subsets', {
      method: 'POST',
      body: Buffer.from(JSON.stringify(subsetMessage())),
      headers: { 'SERVICE-TEST-SUITE-TOKEN': server.token },
    });
    expect(untyped).toMatchObject({ status: 201, text: '' });
  });

  it('over the limit gets a 413 that names the limit and its setting; one at the limit is read', async () => {
    const server = await startServer({ maxBodyBytes: '2000' });
    const message = JSON.stringify(splitMessage());
    expect((await server.post('/v1/build_distributions/subset', message.padEnd(2000))).status).toBe(200);
    expect(await server.post('/v1/build_distributions/subset', message.padEnd(2001))).toMatchObject(
      refusal(413, "the request body is larger than 2000 bytes; the server's setting BALLAST_MAX_BODY_BYTES raises the limit"),
    );
  });
});

it.each([
  ['/v2/test_cases', 1_048_576],
  ['/v2/queues/heartbeat', 262_144],
  ['/dashboard/sign_in', 65_536],
])('a body for %s over %i bytes gets a 413', async (path, most) => {
  const server = await startServer();
  const error = `the request body is larger than ${most} bytes, the limit of this path; send less in each request`;
  expect(await server.post(path, '{}'.padEnd(most + 1))).toMatchObject(refusal(413, error));
  expect((await server.post(path, '{}'.padEnd(most))).status).not.toBe(413);
});

it.each([
  ['POST', '/nothing', 404],
  ['POST', '/v1/v1/build_subsets', 422],
  ['POST', '/v2/paths', 422],
  ['POST', '/v1/builds', 405],
  ['PUT', '/v1/build_subsets', 405],
  ['PUT', '/v2/test_cases', 405],
  ['DELETE', '/dashboard/sign_in', 405],
])(
  'a body that nobody reads, in %s %s, changes nothing of its answer, the status %i, however large it is',
  async (method, path, status) => {
    const server = await startServer({ maxBodyBytes: '2000000' });
    const { text } = await server.send(path, { method });
    for (const bytes of [10, 65_537, 2_000_001]) {
      expect(await server.send(path, { method, body: ' '.repeat(bytes) })).toMatchObject({ status, text });
    }
  },
);

describe('X-Request-Id', () => {
  it('is on every answer of any status, and is unique', async () => {
    const server = await startServer({ maxBodyBytes: '2000' });
    const replies = await Promise.all([
      server.get('/healthz'),
      readSplit(server),
      server.post('/v1/build_subsets', subsetMessage()),
      server.get('/v1/nothing'),
      server.get('/v1/build_subsets'),
      server.post('/v1/build_subsets', {}),
      server.post('/v1/build_subsets', '{'),
      server.post('/v1/build_subsets', ' '.repeat(3000)),
      server.post('/v1/build_subsets', '{}', { 'Content-Type': 'text/html' }),
      server.send('/v1/builds', {}),
    ]);
    expect(replies.map(reply => reply.status)).toEqual([200, 200, 201, 404, 405, 422, 400, 413, 415, 403]);
    const ids = replies.map(reply => reply.headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(uuidPattern);
    expect(new Set(ids).size).toBe(replies.length);
  });

  it("is the client's if it is harmless, and is logged with the request", async () => {
    const server = await startServer();
    const reply = await server.get('/v1/builds', { 'X-Request-Id': 'job-17.node_3' });
    expect(reply.headers.get('x-request-id')).toBe('job-17.node_3');
    expect(server.log.map(line => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ request: 'job-17.node_3', method: 'GET', path: '/v1/builds', status: 200 }),
    );
  });

  it.each([
    ['an empty one', ''],
    ['two words', 'two words'],
    ['markup', '<script>'],
    ['129 characters', 'x'.repeat(129)],
  ])('is a new one instead of %s', async (_, requestId) => {
    expect((await server.get('/v1/nothing', { 'X-Request-Id': requestId })).headers.get('x-request-id')).toMatch(uuidPattern);
  });
});

describe('an answer', () => {
  it('has the type JSON with a body, and no type without one', async ({ server }) => {
    expect((await readSplit(server)).headers.get('content-type')).toBe('application/json');
    expect((await server.get('/v1/nothing')).headers.get('content-type')).toBe('application/json');
    const recorded = await server.post('/v1/build_subsets', subsetMessage());
    expect(recorded.headers.get('content-length')).toBe('0');
    expect(recorded.headers.get('content-type')).toBeNull();
  });
});
