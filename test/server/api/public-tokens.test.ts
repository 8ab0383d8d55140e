import { describe, expect, it } from 'vitest';
import { DAY_MILLISECONDS } from '../../../src/base/time.js';
import { admit, assertRoomForPlan, countPlan } from '../../../src/server/api/authentication/public-token.js';
import { posts } from '../../../src/server/api/posts.js';
import type { RawParameters } from '../../../src/server/api/read/validation.js';
import { endpoints } from '../../../src/server/api/table.js';
import { createToken } from '../../../src/server/engine/access.js';
import {
  PUBLIC_BYTES_PER_DAY,
  PUBLIC_PLANS_PER_DAY,
  PUBLIC_REQUESTS_PER_DAY,
  PUBLIC_TEST_FILES,
  PUBLIC_WAITS,
  PublicAllowance,
} from '../../../src/server/engine/public-side/allowance.js';
import { publicSideOf } from '../../../src/server/engine/public-side/side.js';
import { Client, refusal } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import {
  buildKey,
  connect,
  initialise,
  manyPaths,
  newestBuild,
  pathsIn,
  pullAll,
  readSplit,
  record,
  sortPaths,
  startSplit,
  subsetMessage,
  testFiles,
  testQueueMessage,
  timedTestFiles,
} from '../../harness/messages.js';
import { type ProjectClient, SharedServer, testsWith } from '../../harness/server.js';

const server = new SharedServer();
const it_ = testsWith(server);

/** A client with a public token of a project. */
async function publicClient(project: ProjectClient): Promise<Client> {
  return new Client(project.url, await createToken(server.store.access, project.id, Date.now(), { isPublic: true }));
}

const TIMES = { 'slow_spec.rb': 40, 'quick_spec.rb': 1, 'other_spec.rb': 2 };
const PATHS = Object.keys(TIMES);
const completeness = (ids: string) => `/v1/builds/completeness?commit_hash=c0ffee1&branch=main&node_total=2&${ids}`;

describe('a public token', () => {
  it_('splits by the times of the project, and teaches it none', async ({ server: project }) => {
    await record(project, { test_files: timedTestFiles(TIMES) });
    const stranger = await publicClient(project);
    const fork = { commit_hash: 'f0f0f0', branch: 'patch-1' };
    expect(pathsIn(await startSplit(stranger, PATHS, fork))).toEqual(['slow_spec.rb']);
    const lies = { ...fork, test_files: timedTestFiles({ 'slow_spec.rb': 0.1, 'quick_spec.rb': 900 }) };
    for (const branch of ['patch-1', 'main']) await record(stranger, { ...lies, branch });
    for (const client of [project, await publicClient(project)])
      expect((await startSplit(client, PATHS, { commit_hash: 'abc', ci_build_id: '7' })).json.test_files).toEqual([
        { path: 'slow_spec.rb', time_execution: 40 },
      ]);
  });

  it_('runs a queue that its gate calls complete, with a warning', async ({ server: project }) => {
    const stranger = await publicClient(project);
    await initialise(stranger, PATHS);
    expect(sortPaths(await pullAll(stranger))).not.toEqual([]);
    await record(stranger, { test_files: timedTestFiles(TIMES) });
    const { status, json } = await stranger.get(completeness('node_build_id=100'));
    expect([status, json.warnings[0]]).toEqual([200, expect.stringContaining('a public token ran this CI run')]);
    expect(json.about.project).toMatch(/ \(public\)$/);
    expect((await project.get(completeness('node_build_id=100'))).json.kind).toBeNull();
    expect((await stranger.get(completeness(''))).status).toBe(422);
  });

  it('asks for a queue without proofs, pieces, and the order of earlier failures, which a secret token gets', () => {
    const message = testQueueMessage({
      ...{ can_initialize_queue: true, paths: PATHS, wants_times: true, pieces: 'pytest', batch_id: null },
      ...{ tree: 'a'.repeat(40), proof_keys: [], proved_max_age: 1000 },
    });
    const asked = (project: number) => posts.prepareTestQueue.read(message as RawParameters, project, null).asked;
    expect(asked(1)).toMatchObject({ proved: { maxAge: 1000 }, failingFirst: true, request: { pieces: 'pytest' } });
    expect(asked(publicSideOf(1))).toMatchObject({ proved: null, failingFirst: false, request: { pieces: null } });
  });

  it_('is refused everything else', async ({ server: project }) => {
    await record(project);
    const id = await newestBuild(project);
    const stranger = await publicClient(project);
    const paths = [
      ...[
        '/v1/builds',
        `/v1/builds/${id}`,
        '/v1/build_summaries',
        '/v1/trends/builds',
        '/v1/trends/files',
        '/v1/trends/nodes',
        '/v1/flaky',
      ],
      ...['minutes', 'timeline', 'comparison', 'why', 'trace', 'what_if', 'receipt'].map(name => `/v1/builds/${id}/${name}`),
      ...['/v1/proofs', '/v1/receipt_keys', '/v1/metrics', '/v2/test_paths?branch=main', '/v1/trends/node_counts?branch=main'],
      '/v1/build_distributions/last?commit_hash=c0ffee1&branch=main&node_total=2&node_index=0',
    ];
    for (const path of paths) {
      const reply = await stranger.get(path);
      expect({ path, ...reply }).toMatchObject({
        path,
        ...refusal(403, expect.stringContaining('is not open to a public token')),
      });
    }
    const { token } = stranger;
    const plan = { ...buildKey, mode: 'queue', nodes: [2], test_files: testFiles(PATHS) };
    for (const [client, body] of [
      [stranger, plan],
      [new Client(server.url, ''), { ...plan, test_suite_token: token }],
    ] as const)
      expect(await client.post('/v1/plan', body, client.token === '' ? { 'SERVICE-TEST-SUITE-TOKEN': '' } : {})).toMatchObject({
        status: 403,
      });
  });

  it_('is refused by every endpoint that is not named here', async ({ server: project }) => {
    const stranger = await publicClient(project);
    const open: string[] = [];
    for (const endpoint of endpoints) {
      const path = endpoint.replace(':id', 'an-id').replace(':name', 'limits');
      for (const { status, text } of [await stranger.get(path), await stranger.post(path, {})])
        if (status !== 405 && !text.includes('is not open to a public token')) open.push(endpoint);
    }
    const withToken = open.filter(endpoint => /^\/v\d/.test(endpoint));
    expect(withToken).toEqual([
      ...['/v1/build_subsets', '/v1/build_distributions/subset', '/v1/queues/queue', '/v2/queues/queue', '/v2/queues/heartbeat'],
      ...['/v2/queues/cancel', '/v2/test_cases', '/v1/builds/completeness', '/v1/openapi.json'],
    ]);
  });

  it_('finds nothing that the project made', async ({ server: project }) => {
    await initialise(project, PATHS);
    await startSplit(project, PATHS);
    const stranger = await publicClient(project);
    expect((await connect(stranger)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    expect((await readSplit(stranger)).json.code).toBe('TEST_SUITE_SPLIT_CACHE_MISS');
    // Nor what another CI run with a public token made.
    await startSplit(stranger, PATHS, { ci_build_id: '1', fixed_test_suite_split: true });
    expect((await readSplit(stranger, { ci_build_id: '2', fixed_test_suite_split: true })).json.code).toBe('TEST_SUITE_SPLIT_CACHE_MISS');
  });

  it_('lists fewer files than others', async ({ server: project }) => {
    const stranger = await publicClient(project);
    const many = manyPaths(PUBLIC_TEST_FILES + 1);
    const refused = { status: 422, json: { errors: [{ test_files: [expect.stringContaining(String(PUBLIC_TEST_FILES))] }] } };
    expect(await startSplit(stranger, many)).toMatchObject(refused);
    expect(await initialise(stranger, many)).toMatchObject(refused);
    const recorded = subsetMessage({ test_files: many.map(path => ({ path, time_execution: 1 })) });
    expect(await stranger.post('/v1/build_subsets', recorded)).toMatchObject(refused);
    expect((await startSplit(stranger, many.slice(1))).status).toBe(200);
  });
});

describe('the allowance of a public side', () => {
  const side = publicSideOf(1);
  const { millis } = new Clock();
  const boundsOf = (publicAllowance: PublicAllowance, now = () => millis) => ({ publicAllowance, now });
  const pull = { method: 'POST', path: '/v2/queues/queue', isOpenToPublic: true, clientName: 'ballast' };
  const used = (what: string) =>
    expect.objectContaining({
      status: 429,
      errors: [expect.stringContaining(`limit of ${what} a day`)],
      headers: { 'Retry-After': String(86_400 - ((millis / 1000) % 86_400)) },
    });

  it('has few requests that wait at once, and others are answered at once', () => {
    const allowance = new PublicAllowance();
    const begun = Array.from({ length: PUBLIC_WAITS + 1 }, () => allowance.beginWait(side));
    expect(begun).toEqual([...Array(PUBLIC_WAITS).fill(true), false]);
    allowance.endWait(side);
    expect([allowance.beginWait(side), allowance.beginWait(side), allowance.beginWait(publicSideOf(2))]).toEqual([true, false, true]);
  });

  it_('answers a gate that may not wait at once', async ({ server: project }) => {
    // More than two servers let wait.
    const [stranger, gates] = [await publicClient(project), 2 * PUBLIC_WAITS + 1];
    const leave = new AbortController();
    const path = completeness('node_build_id=unknown&wait=60');
    const fetching = Array.from({ length: gates }, () =>
      fetch(project.url + path, { headers: { 'SERVICE-TEST-SUITE-TOKEN': stranger.token }, signal: leave.signal }).then(
        ({ status }) => status,
      ),
    );
    expect(await Promise.race(fetching)).toBe(409);
    leave.abort();
    await Promise.allSettled(fetching);
  });

  it('bounds its requests, with those that are refused, and begins again every day', () => {
    const allowance = new PublicAllowance();
    for (let i = 1; i < PUBLIC_REQUESTS_PER_DAY; i++) admit(boundsOf(allowance), pull, side, 0);
    const closed = { ...pull, path: '/v1/plan', isOpenToPublic: false };
    expect(() => admit(boundsOf(allowance), closed, side, 0)).toThrow(expect.objectContaining({ status: 403 }));
    expect(() => admit(boundsOf(allowance), pull, side, 0)).toThrow(used(`${PUBLIC_REQUESTS_PER_DAY} requests`));
    // A client that would pass with a part of the files.
    const commercial = { ...pull, clientName: '@knapsack-pro/jest' };
    expect(() => admit(boundsOf(allowance), commercial, side, 0)).toThrow(expect.objectContaining({ status: 422 }));
    for (const project of [1, 2, publicSideOf(2)]) admit(boundsOf(allowance), pull, project, 0);
    admit(
      boundsOf(allowance, () => millis + DAY_MILLISECONDS),
      pull,
      side,
      0,
    );
  });

  it('bounds the bytes of its requests', () => {
    const allowance = new PublicAllowance();
    admit(boundsOf(allowance), pull, side, PUBLIC_BYTES_PER_DAY);
    expect(() => admit(boundsOf(allowance), pull, side, 1)).toThrow(used(`${PUBLIC_BYTES_PER_DAY} bytes`));
    for (let i = 0; i < 2; i++) admit(boundsOf(allowance), pull, 1, PUBLIC_BYTES_PER_DAY);
  });

  it('bounds its queues and splits', () => {
    const bounds = boundsOf(new PublicAllowance());
    for (const project of [1, side]) for (let i = 0; i < PUBLIC_PLANS_PER_DAY; i++) countPlan(bounds, project);
    assertRoomForPlan(bounds, pull, 1);
    expect(() => assertRoomForPlan(bounds, pull, side)).toThrow(used(`${PUBLIC_PLANS_PER_DAY} queues and splits`));
  });
});
