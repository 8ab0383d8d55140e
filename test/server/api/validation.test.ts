import { describe, expect } from 'vitest';
import { type Client, type Reply, refusal } from '../../harness/client.js';
import {
  buildKey,
  type Fields,
  initialise,
  manyPaths,
  pathsIn,
  queueMessage,
  splitMessage,
  startSplit,
  subsetMessage,
  testFiles,
  testQueueMessage,
  uuidPattern,
} from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const REQUIRED = ['parameter is required'];
const NOT_BOOLEAN = ['is not a boolean'];
const NOT_NUMBER = ['is not a number'];
const NOT_STRING = ['is not a string'];
const SHORT = ['is too short (minimum is 3 characters)'];
const NOT_FILE = ['has a NUL, or half a surrogate pair'];
const LONG = ['is too long (maximum is 4096 characters)'];
const shared = new SharedServer();
const it = testsWith(shared);
const server: Client = shared;

/** Expects a 422 with these errors and no others. */
function expectInvalid({ status, json }: Reply, errors: object): void {
  expect(status).toBe(422);
  expect(json).toEqual({ errors: [errors] });
}

type Send = (client: Client, more: Fields) => Promise<Reply>;

const posts = {
  subset: (client, more) => client.post('/v1/build_subsets', subsetMessage(more)),
  split: (client, more) => client.post('/v1/build_distributions/subset', splitMessage(more)),
  queue: (client, more) => client.post('/v1/queues/queue', queueMessage(more)),
} satisfies Record<string, Send>;

const last: Send = (client, more) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...buildKey, node_index: 0, ...more })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return client.get(`/v1/build_distributions/last?${query.toString()}`);
};

describe('the parameters that all node endpoints share', () => {
  it.each<[situation: string, more: Fields, errors: object]>([
    ['a missing commit_hash', { commit_hash: undefined }, { commit_hash: REQUIRED }],
    ['an empty branch', { branch: '' }, { branch: REQUIRED }],
    ['a node_total in words', { node_total: 'two' }, { node_total: NOT_NUMBER }],
    ['a fractional node_total', { node_total: '2.5' }, { node_total: ['is not an integer'] }],
    ['a node_total of 0', { node_total: 0 }, { node_total: ['must be greater than or equal to 1'] }],
    ['a negative node_index', { node_index: '-1' }, { node_index: ['must be greater than or equal to 0'] }],
    ['a node_index above the maximum', { node_total: 4, node_index: 4 }, { node_index: ['must be less than or equal to 3'] }],
    ['a branch of 4097 characters', { branch: 'b'.repeat(4097) }, { branch: LONG }],
    ['two invalid parameters', { branch: undefined, node_index: 9 }, { branch: REQUIRED, node_index: ['must be less than or equal to 1'] }],
  ])('%s gets a 422 at each endpoint', async (_, more, errors) => {
    for (const send of [...Object.values(posts), last]) {
      expect(await send(server, more)).toMatchObject(refusal(422, errors));
    }
  });

  it.each<[situation: string, more: Fields, errors: object]>([
    ['a number as commit_hash', { commit_hash: 12 }, { commit_hash: NOT_STRING }],
    ['an object as branch', { branch: { name: 'main' } }, { branch: NOT_STRING }],
    ['an object as node_total', { node_total: {} }, { node_total: NOT_NUMBER }],
    ['a boolean as node_index', { node_index: true }, { node_index: NOT_NUMBER }],
    ['a list of indices', { node_index: [0] }, { node_index: NOT_NUMBER }],
    ['a null node_total', { node_total: null }, { node_total: REQUIRED }],
    ['test_files as text', { test_files: 'a_spec.rb' }, { test_files: ['is not an array'] }],
    ['test_files as an object', { test_files: { path: 'a_spec.rb' } }, { test_files: ['is not an array'] }],
  ])('%s gets a 422 at each POST', async (_, more, errors) => {
    for (const send of Object.values(posts)) {
      expect(await send(server, more)).toMatchObject(refusal(422, errors));
    }
  });

  it('may be numeric strings, and unknown parameters are ignored', async ({ server }) => {
    const more = { node_total: '2', node_index: '1', some_new_parameter: { deep: [1] } };
    expect(await posts.subset(server, more)).toMatchObject({ status: 201, text: '' });
    expect((await posts.split(server, more)).json).toEqual({ code: 'TEST_SUITE_SPLIT_CACHE_MISS' });
    expect((await posts.queue(server, more)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    expect((await last(server, more)).json.build_distribution_id).toMatch(uuidPattern);
    expect((await server.get('/v1/builds')).json.data).toMatchObject([{ node_total: 2 }]);
  });
});

describe('a message without any parameter', () => {
  const shared = { commit_hash: REQUIRED, branch: REQUIRED, node_total: REQUIRED, node_index: REQUIRED };

  it.each<[path: string, errors: object]>([
    ['/v1/build_subsets', { ...shared, test_files: REQUIRED }],
    ['/v1/build_distributions/subset', { ...shared, cache_read_attempt: REQUIRED, ci_build_id: REQUIRED }],
    ['/v1/queues/queue', { ...shared, can_initialize_queue: REQUIRED, attempt_connect_to_queue: REQUIRED, node_build_id: REQUIRED }],
  ])('to %s gets an error for each required one', async (path, errors) => {
    expectInvalid(await server.post(path, {}), errors);
  });
});

describe('test_files of POST /build_subsets', () => {
  it('are reported by position, with all errors of each', async ({ server }) => {
    const test_files = [
      { path: 'fine_spec.rb', time_execution: 1 },
      { path: 'ab', time_execution: 'fast' },
      { time_execution: 1 },
      { path: 'no_time_spec.rb' },
      { path: 'back_spec.rb', time_execution: -0.5 },
      { path: 'null_spec.rb', time_execution: null },
      { path: 7, time_execution: [1] },
      { path: 'p'.repeat(4097), time_execution: 0 },
      'a_spec.rb',
      null,
    ];
    expectInvalid(await posts.subset(server, { test_files }), {
      test_files: [
        { 1: { path: SHORT, time_execution: NOT_NUMBER } },
        { 2: { path: REQUIRED } },
        { 3: { time_execution: REQUIRED } },
        { 4: { time_execution: ['must be greater than or equal to 0'] } },
        { 5: { time_execution: NOT_NUMBER } },
        { 6: { path: NOT_STRING, time_execution: NOT_NUMBER } },
        { 7: { path: LONG } },
        { 8: ['is not an object'] },
        { 9: ['is not an object'] },
      ],
    });
    expect((await server.get('/v1/builds')).json.data).toEqual([]);
  });

  it.for([3, 1000])('with half a surrogate pair or a NUL in a path are refused in a list of %i', async (count, { server }) => {
    const paths = [...manyPaths(count - 2), 'spec/\ud83d_spec.rb', 'spec/a\0b_spec.rb'];
    const [half, nul] = [count - 2, count - 1];
    const test_files = [{ [half]: { path: NOT_FILE } }, { [nul]: { path: NOT_FILE } }];
    const files = testFiles(paths);
    expect(await posts.subset(server, { test_files: files.map(file => ({ ...file, time_execution: 1 })) })).toMatchObject(
      refusal(422, { test_files }),
    );
    for (const initialised of [startSplit, initialise])
      expect(await initialised(server, paths)).toMatchObject(refusal(422, { test_files }));
    const message = testQueueMessage({ can_initialize_queue: true, paths, failed_paths: ['\udc00', 'a\0'] });
    expect(await server.post('/v2/queues/queue', message)).toMatchObject(
      refusal(422, { paths: [{ [half]: NOT_FILE }, { [nul]: NOT_FILE }], failed_paths: [{ 0: NOT_FILE }, { 1: NOT_FILE }] }),
    );
    expect((await server.get('/v1/builds')).json.data).toEqual([]);
    // A pair, and the sign that stands for what cannot be decoded, are characters as any other.
    expect((await initialise(server, ['spec/😀_spec.rb', 'spec/\ufffd_spec.rb'])).status).toBe(200);
  });

  it('with an infinite time are refused', async () => {
    const body = JSON.stringify(subsetMessage({ test_files: [{ path: 'a_spec.rb', time_execution: 1 }] }));
    const reply = await server.post('/v1/build_subsets', body.replace('"time_execution":1', '"time_execution":1e999'));
    expectInvalid(reply, { test_files: [{ 0: { time_execution: NOT_NUMBER } }] });
  });

  it('are reported together with other parameters, even in a list of thousands', async () => {
    const test_files = manyPaths(3000).map((path, i) => ({ path, time_execution: i === 2999 ? 'slow' : 1 }));
    expectInvalid(await posts.subset(server, { test_files, node_index: 2 }), {
      node_index: ['must be less than or equal to 1'],
      test_files: [{ 2999: { time_execution: NOT_NUMBER } }],
    });
  });

  it('may have a path of 3 characters and a time of 0', async ({ server }) => {
    expect(await posts.subset(server, { test_files: [{ path: 'a.c', time_execution: 0 }] })).toMatchObject({ status: 201, text: '' });
  });
});

describe('parameters of a split and of a queue', () => {
  it.each<[endpoint: keyof typeof posts, situation: string, more: Fields, errors: object]>([
    ['split', 'a flag of yes', { cache_read_attempt: 'yes' }, { cache_read_attempt: NOT_BOOLEAN }],
    ['split', 'a number as a flag', { fixed_test_suite_split: 1 }, { fixed_test_suite_split: NOT_BOOLEAN }],
    ['split', 'a ci_build_id missing', { ci_build_id: undefined }, { ci_build_id: REQUIRED }],
    ['split', 'an object as ci_build_id', { ci_build_id: { id: 1 } }, { ci_build_id: NOT_STRING }],
    ['split', 'a list as ci_build_id', { ci_build_id: [1] }, { ci_build_id: NOT_STRING }],
    ['split', 'no list to split', { cache_read_attempt: false }, { test_files: REQUIRED }],
    ['split', 'an empty list to split', { cache_read_attempt: false, test_files: [] }, { test_files: REQUIRED }],
    ['split', 'a short path', { cache_read_attempt: false, test_files: testFiles(['ab']) }, { test_files: [{ 0: { path: SHORT } }] }],
    ['split', 'a missing flag without files', { cache_read_attempt: undefined }, { cache_read_attempt: REQUIRED }],
    ['split', 'a user_seat that is a number', { user_seat: 5 }, { user_seat: NOT_STRING }],
    ['queue', 'a flag of yes', { can_initialize_queue: 'yes' }, { can_initialize_queue: NOT_BOOLEAN }],
    ['queue', 'a number as a flag', { fixed_queue_split: 0 }, { fixed_queue_split: NOT_BOOLEAN }],
    ['queue', 'an object as a flag', { skip_pull: {} }, { skip_pull: NOT_BOOLEAN }],
    ['queue', 'a node_build_id missing', { node_build_id: null }, { node_build_id: REQUIRED }],
    ['queue', 'an object as node_build_id', { node_build_id: {} }, { node_build_id: NOT_STRING }],
    ['queue', 'a list as batch_uuid', { batch_uuid: ['u'] }, { batch_uuid: NOT_STRING }],
    ['queue', 'no list to queue', { attempt_connect_to_queue: false }, { test_files: REQUIRED }],
    ['queue', 'an empty list to queue', { attempt_connect_to_queue: false, test_files: [] }, { test_files: REQUIRED }],
    ['queue', 'an entry without path', { attempt_connect_to_queue: false, test_files: [{}] }, { test_files: [{ 0: { path: REQUIRED } }] }],
    ['queue', 'a missing flag without files', { attempt_connect_to_queue: undefined }, { attempt_connect_to_queue: REQUIRED }],
    ['queue', 'a build_author that is an object', { build_author: {} }, { build_author: NOT_STRING }],
    ['queue', 'commit_authors that are text', { commit_authors: 'Jo**' }, { commit_authors: ['is not an array'] }],
    ['queue', 'an author without commits', { commit_authors: [{ author: 'Jo**' }] }, { commit_authors: [{ 0: { commits: REQUIRED } }] }],
  ])('%s: %s gets a 422', async (endpoint, _, more, errors) => {
    expectInvalid(await posts[endpoint](server, more), errors);
  });

  it('may be booleans as strings, and people may be missing, null or a digest', async ({ server }) => {
    const { split } = posts;
    const test_files = testFiles(['a_spec.rb']);
    for (const user_seat of [undefined, null, '5f4dcc3b5aa765d61d8327deb882cf99', '']) {
      const people = { user_seat, build_author: user_seat, commit_authors: null };
      const queued = await posts.queue(server, {
        ...people,
        can_initialize_queue: 'true',
        attempt_connect_to_queue: 'false',
        fixed_queue_split: 'false',
        node_build_id: `build-${String(user_seat)}`,
        test_files,
      });
      expect(pathsIn(queued)).toEqual(['a_spec.rb']);
      const reply = await split(server, { ...people, cache_read_attempt: 'false', node_total: 1, test_files });
      expect(pathsIn(reply)).toEqual(['a_spec.rb']);
    }
  });

  it('may be build ids as integers, which equal the same ids as strings', async ({ server }) => {
    const fresh = { cache_read_attempt: false, fixed_test_suite_split: false, test_files: testFiles(['a_spec.rb']) };
    const split = await posts.split(server, { ...fresh, ci_build_id: 4711 });
    expect((await posts.split(server, { fixed_test_suite_split: false, ci_build_id: '4711' })).json).toEqual(split.json);
    const failed = await posts.queue(server, { node_build_id: 4711 });
    expect((await posts.queue(server, { node_build_id: '4711' })).json.queue_name).toBe(failed.json.queue_name);
  });

  it('may be build ids as integers of any size, which stay distinct', async ({ server }) => {
    const nameOf = async (node_build_id: string) => {
      const body = JSON.stringify(queueMessage({ node_build_id: '?' })).replace('"?"', node_build_id);
      return (await server.post('/v1/queues/queue', body)).json.queue_name as string;
    };
    const names = await Promise.all(['12345678901234567891', '12345678901234567892', '"12345678901234567891"'].map(nameOf));
    expect(names[0]).toBe(names[2]);
    expect(names[0]).not.toBe(names[1]);
  });
});

describe('a query', () => {
  it.each<[query: string, errors: object]>([
    ['/v1/build_distributions/last', { commit_hash: REQUIRED, branch: REQUIRED, node_total: REQUIRED, node_index: REQUIRED }],
    ['/v1/builds?page=0', { page: ['must be greater than or equal to 1'] }],
    ['/v1/builds?page=-3', { page: ['must be greater than or equal to 1'] }],
    ['/v1/builds?page=1.5', { page: ['is not an integer'] }],
    ['/v1/builds?page=two', { page: NOT_NUMBER }],
    ['/v1/builds?node_total=all', { node_total: NOT_NUMBER }],
    ['/v1/builds?page=x&node_total=2.5', { page: NOT_NUMBER, node_total: ['is not an integer'] }],
    ['/v1/build_summaries?limit=0', { limit: ['must be greater than or equal to 1'] }],
    ['/v1/build_summaries?limit=101', { limit: ['must be less than or equal to 100'] }],
    ['/v1/build_summaries?cursor=..', { cursor: ['is malformed'] }],
    ['/v1/build_summaries?cursor=12345678901', { cursor: ['is malformed'] }],
    ['/v1/build_summaries?failed=perhaps', { failed: NOT_BOOLEAN }],
    ['/v1/build_summaries?node_total=0', { node_total: ['must be greater than or equal to 1'] }],
    ['/v2/test_paths', { branch: REQUIRED }],
    ['/v1/trends/builds?from=2026-02-30', { from: ['is not a day, such as 2026-11-22'] }],
    ['/v1/trends/builds?from=soon', { from: [expect.any(String)] }],
    ['/v1/trends/builds?from=2026-02-02&to=2026-02-01', { from: ['must not be after to'] }],
    ['/v1/trends/builds?from=2024-01-01&to=2026-01-01', { from: ['must be less than 400 days before to'] }],
    ['/v1/trends/builds?by=month', { by: [expect.any(String)] }],
    ['/v1/trends/files?limit=1001', { limit: ['must be less than or equal to 1000'] }],
    ['/v1/trends/files?offset=-1', { offset: ['must be greater than or equal to 0'] }],
    ['/v1/trends/files?sort=size', { sort: [expect.stringMatching(/^must be one of (\w+, ){5}\w+$/)] }],
    ['/v1/trends/files/history', { path: REQUIRED }],
  ])('%s gets a 422', async (query, errors) => {
    expectInvalid(await server.get(query), errors);
  });
});
