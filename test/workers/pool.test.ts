import { Piscina } from 'piscina';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiError } from '../../src/api-error.js';
import { type Segments, segment } from '../../src/engine/segments.js';
import { limits } from '../../src/limits.js';
import { toWeight } from '../../src/planning/weight.js';
import { openLog } from '../../src/server/log.js';
import { listBuilds } from '../../src/store/lmdb/builds.js';
import { closeStore, openStore, type Store } from '../../src/store/lmdb/open.js';
import { createProject } from '../../src/store/lmdb/projects.js';
import { createToken } from '../../src/store/lmdb/tokens.js';
import { FairSemaphore } from '../../src/workers/fair-semaphore.js';
import type { Posts } from '../../src/workers/jobs.js';
import { JobPool, type Prepared, type Sending } from '../../src/workers/pool.js';
import { buildDetail, recordedDistribution } from '../../src/workers/read.js';
import type { ReadAnswer } from '../../src/workers/task.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { recordRun, recordTimes } from '../store/lmdb/temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
/** The tests make tokens of projects up to this one. */
const PROJECTS_WITH_TOKEN = 5;

/** One pool for all tests, as each starts a thread, which loads the program again. */
let shared: { store: Store; pool: JobPool };
let projects = PROJECTS_WITH_TOKEN;
beforeAll(() => {
  const dataDir = temporaryFolder(afterAll);
  const store = openStore(dataDir);
  shared = {
    store,
    pool: new JobPool(store, { dataDir, tokenHeader: 'SERVICE-TEST-SUITE-TOKEN', pullCost: 20_000, workers: 1 }, openLog('silent')),
  };
});
afterAll(async () => {
  await shared.pool.close();
  await closeStore(shared.store);
});

/** The pool, and a project of which it knows nothing. */
const openPool = () => ({ ...shared, project: ++projects });

/** The body; blanks make it so large that it is handed to a thread unread. */
function bodyOf(parameters: object, where: 'here' | 'thread'): Uint8Array[] {
  const bytes = new TextEncoder().encode(JSON.stringify(parameters));
  if (where === 'here') return [bytes];
  const padded = new Uint8Array(limits.pooledBodyBytes).fill(0x20);
  padded.set(bytes);
  // In pieces, as a socket brings it: one ends within a letter.
  const cut = bytes.findIndex(byte => byte > 0x7f) + 1;
  return [padded.slice(0, cut), padded.slice(cut, 2 * cut), padded.slice(2 * cut)];
}

const sent = (body: Uint8Array[], hasLeft = () => false): Sending => ({ body, hasLeft });

const textOf = ({ body }: ReadAnswer) => Buffer.from(body as Uint8Array).toString();

const paths = (count: number) => Array.from({ length: count }, (_, i) => `spec/${i}_größe_spec.rb`);
const listed = (count: number) => paths(count).map(path => ({ path }));

const key = { commit_hash: 'abc', branch: 'main', node_total: 7, node_index: 3 };
const person = {
  user_seat: 'Somebody Else',
  commit_authors: [{ commits: 3, author: 'Someone <someone@example.com>' }],
};

const parameters: { [K in keyof Posts]: object } = {
  prepareSubset: {
    ...key,
    node_index: '3',
    test_files: paths(400).map((path, i) => ({ path, time_execution: i % 3, more: 'ignored' })),
  },
  prepareSplit: { ...key, ...person, ci_build_id: 17, cache_read_attempt: 'false', test_files: listed(400) },
  prepareQueue: {
    ...key,
    ...person,
    node_build_id: 17,
    can_initialize_queue: true,
    attempt_connect_to_queue: false,
    batch_uuid: 'u-1',
    test_files: [...listed(400), ...listed(3)],
  },
  prepareTestQueue: {
    ...key,
    ...person,
    test_queue_id: 17,
    node_uuid: 'n-1',
    batch_index: '0',
    can_initialize_queue: true,
    attempt_connect_to_queue: false,
    paths: [...paths(400), ...paths(3)],
  },
};

const isSegments = (value: unknown): value is Segments => typeof value === 'object' && value !== null && 'ends' in value;

/** With blocks of bytes as texts: between threads a Buffer becomes a plain array of bytes. A split's id is its own. */
function readable(prepared: Prepared<keyof Posts>): unknown {
  const plan = prepared.prepared && 'plan' in prepared.prepared ? prepared.prepared.plan : null;
  const id = plan && 'id' in plan ? plan.id : 'none';
  return JSON.parse(
    JSON.stringify(prepared, (_, value: unknown) => {
      if (isSegments(value)) return Array.from(value.ends, (_end, i) => segment(value, i).toString());
      return value instanceof Float64Array ? [...value] : value;
    }).replaceAll(id, 'id'),
  );
}

const faultOf = (result: Promise<unknown>): Promise<unknown> =>
  result.then(
    () => expect.fail('it was prepared'),
    (error: unknown) => error,
  );

describe('a POST that a thread prepares', () => {
  it.each(Object.keys(parameters) as (keyof Posts)[])('comes out of %s as it would here', async job => {
    const { store, pool, project } = openPool();
    const measured = paths(400).filter((_, i) => i % 5 > 0);
    await recordTimes(store, project, Object.fromEntries(measured.map((path, i) => [path, 0.5 + ((i * 37) % 100)])), NOW);
    const here = await pool.post(job, sent(bodyOf(parameters[job], 'here')), project);
    const thread = await pool.post(job, sent(bodyOf(parameters[job], 'thread')), project);
    expect(readable(thread)).toEqual(readable(here));
    expect(here.project).toBe(project);
    expect(JSON.stringify(readable(thread))).not.toContain('Some');
  });

  it('knows the timings that were recorded a moment before', async () => {
    const { store, pool, project } = openPool();
    for (let seconds = 1; seconds <= 5; seconds++) {
      await recordTimes(store, project, { [paths(1)[0]!]: seconds }, NOW + seconds);
      const results = (['here', 'thread'] as const).map(where =>
        pool.post('prepareQueue', sent(bodyOf(parameters.prepareQueue, where)), project),
      );
      const [here, thread] = await Promise.all(results);
      expect(readable(thread!)).toEqual(readable(here!));
      expect(here!.prepared.plan!.forecast.unknown_files).toBe(399);
    }
  });

  it('goes to a thread also when it is short but lists many files', async () => {
    const { pool, project } = openPool();
    const test_files = Array.from({ length: limits.pooledTestFiles }, (_, i) => ({ path: `${1000 + i}` }));
    const [body] = bodyOf({ ...parameters.prepareSplit, test_files }, 'here') as [Uint8Array];
    expect(body.length).toBeLessThan(limits.pooledBodyBytes);
    const { prepared } = await pool.post('prepareSplit', sent([body]), project);
    expect(prepared.plan!.answers.ends.length).toBe(key.node_total);
    // Only lent: the socket's memory stays where it is.
    expect(body.buffer.byteLength).toBeGreaterThan(0);
  });

  it.each([
    [
      'is short but lists many files',
      (body: object) =>
        bodyOf({ ...body, test_files: Array.from({ length: limits.pooledTestFiles }, (_, i) => ({ path: `${1000 + i}` })) }, 'here'),
    ],
    [
      'is large, its token at the begin',
      ({ test_suite_token, ...body }: Record<string, unknown>) => bodyOf({ test_suite_token, ...body }, 'thread'),
    ],
    [
      'is large, its token at the end',
      (body: object) => [new Uint8Array(limits.pooledBodyBytes).fill(0x20), new TextEncoder().encode(JSON.stringify(body))],
    ],
  ])('whose token is in its body waits in the turn of its project: %s', async (_, bodyWith) => {
    const { store, pool } = openPool();
    const owners = vi.spyOn(FairSemaphore.prototype, 'run');
    const tasks = vi.spyOn(Piscina.prototype, 'run');
    onTestFinished(() => {
      for (const spy of [owners, tasks]) spy.mockRestore();
    });
    const body = bodyWith({ ...parameters.prepareSplit, test_suite_token: await createToken(store, 5, NOW) });
    expect((await pool.post('prepareSplit', sent(body), null)).project).toBe(5);
    expect(owners).toHaveBeenCalledExactlyOnceWith(5, expect.anything());
    // What is only likely is looked at by the thread.
    expect(tasks.mock.calls.at(-1)![0]).toMatchObject({ project: body.length === 1 ? 5 : null });
  });

  it('goes to a thread also when it names a file of thousands of test cases, wherever its bytes lie', async () => {
    const { store, pool } = openPool();
    const cases = Array.from({ length: limits.testCasesOnMainThread + 5 }, (_, i) => `a.py::test_${i}`);
    const { id: project } = await createProject(store, 'cases', NOW);
    await recordRun(
      store,
      project,
      key,
      cases.map(path => ({ path, time_execution: 1 })),
      NOW,
    );
    // In memory that Node shares out, and does not let go to a thread.
    const body = Buffer.from(JSON.stringify({ ...parameters.prepareQueue, test_files: [{ path: 'a.py' }] }));
    expect(body.buffer.byteLength).toBeGreaterThan(body.length);
    const { prepared } = await pool.post('prepareQueue', sent([body]), project);
    expect(prepared.plan!.weights).toEqual(Float64Array.of(toWeight(limits.testCasesOnMainThread + 5)));
    expect(JSON.parse(body.toString())).toMatchObject(key);
  });

  it.each([
    ['has no token', {}, 403],
    ['has an unknown token', { test_suite_token: 'x'.repeat(40) }, 403],
    ['has the right token', null, 200],
  ])('%s in its body: is answered as it would be here', async (_, token, status) => {
    const { store, pool } = openPool();
    const test_suite_token = await createToken(store, 5, NOW);
    const body = { ...parameters.prepareSplit, ...(token ?? { test_suite_token }) };
    const results = (['here', 'thread'] as const).map(where => pool.post('prepareSplit', sent(bodyOf(body, where)), null));
    if (status === 200) {
      for (const { project } of await Promise.all(results)) expect(project).toBe(5);
      return;
    }
    const [here, thread] = await Promise.all(results.map(faultOf));
    expect(thread).toBeInstanceOf(ApiError);
    expect(thread).toEqual(here);
    expect(here).toMatchObject({ status, errors: [expect.stringContaining('invalid test suite token')] });
  });

  it.each([
    ['is no JSON', '{"commit_hash": ', 400],
    ['is no object', '[1, 2]', 400],
    ['is wrong', JSON.stringify({ ...key, node_index: 7, test_files: [{ path: 'a' }, 5] }), 422],
    ['is wrong in its last entry', JSON.stringify({ ...key, test_files: [...listed(500), { time: 1 }] }), 422],
  ])('%s: is refused as it would be here', async (_, text, status) => {
    const { pool, project } = openPool();
    const encode = (body: string) => new TextEncoder().encode(body);
    const results = [text, text.padEnd(limits.pooledBodyBytes)].map(body => pool.post('prepareSubset', sent([encode(body)]), project));
    const [here, thread] = await Promise.all(results.map(faultOf));
    expect(thread).toBeInstanceOf(ApiError);
    expect(JSON.stringify(thread)).toBe(JSON.stringify(here));
    expect(here).toMatchObject({ status });
  });

  it('is not worked on when its client left before its turn came', async () => {
    const { pool, project } = openPool();
    const body = () => bodyOf(parameters.prepareSplit, 'thread');
    const results = Array.from({ length: 10 }, (_, i) =>
      pool.post(
        'prepareSplit',
        sent(body(), () => i === 9),
        project,
      ),
    );
    const settled = await Promise.allSettled(results);
    expect(settled.map(({ status }) => status)).toEqual([...Array<string>(9).fill('fulfilled'), 'rejected']);
    expect(await faultOf(results[9]!)).toMatchObject({ status: 408 });
  });

  it('is refused when too many wait already, and those that wait are prepared', async () => {
    const { pool, project } = openPool();
    const results = Array.from({ length: limits.waitingJobsPerProject + 40 }, () =>
      pool.post('prepareSplit', sent(bodyOf(parameters.prepareSplit, 'thread')), project),
    );
    const settled = await Promise.allSettled(results);
    const refused = settled.flatMap(result => (result.status === 'rejected' ? [result.reason as ApiError] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(settled.length - refused.length).toBeGreaterThanOrEqual(limits.waitingJobsPerProject);
    for (const fault of refused) {
      expect(fault).toMatchObject({ status: 503, headers: { 'Retry-After': String(limits.retryAfterSeconds) } });
    }
    expect((await pool.post('prepareSplit', sent(bodyOf(parameters.prepareSplit, 'thread')), project)).project).toBe(project);
  });
});

describe('an answer about a large build', () => {
  it('is built in a thread as it would be here', async () => {
    const { store, pool, project } = openPool();
    for (let node_index = 0; node_index < 3; node_index++) {
      const test_files = paths(600).map((path, i) => ({ path, time_execution: (i * (node_index + 7)) % 50 }));
      await recordRun(store, project, { ...key, node_index }, test_files, NOW + node_index);
    }
    const [build] = listBuilds(store, project, {}, 1).builds;
    expect(build!.test_files).toBe(1800);
    const [detail, distribution] = await Promise.all([pool.build(build!, () => false), pool.distribution(build!, () => false)]);
    expect([detail, distribution].every(({ body }) => body instanceof Uint8Array)).toBe(true);
    expect(textOf(detail)).toBe(buildDetail(store, build!).body);
    expect(textOf(distribution)).toBe(recordedDistribution(store, build!).body);
    // All in one piece.
    expect(detail.rest).toBeUndefined();
  });

  it('comes piece by piece when the build is larger, and is not refused in the middle', async () => {
    const { store, pool, project } = openPool();
    const test_files = paths(5000).map((path, i) => ({ path, time_execution: i % 50 }));
    for (let node_index = 0; node_index < 2; node_index++)
      await recordRun(store, project, { ...key, node_index }, test_files, NOW + node_index);
    const [build] = listBuilds(store, project, {}, 1).builds;
    const { body, rest } = await pool.build(build!, () => false);
    const others = Array.from({ length: limits.waitingJobsPerProject + 10 }, () => pool.build(build!, () => true).catch(() => {}));
    const pieces = [body as Uint8Array];
    for await (const piece of rest!) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    expect(Buffer.concat(pieces).toString()).toBe(buildDetail(store, build!).body);
    await Promise.all(others);
  });

  it('is built here when the build is small', async () => {
    const { store, pool, project } = openPool();
    await recordRun(store, project, key, [{ path: 'a_spec.rb', time_execution: 2 }], NOW);
    const [build] = listBuilds(store, project, {}, 1).builds;
    const test_files = [{ path: 'a_spec.rb', time_execution: 2 }];
    const expected = { build_distribution_id: build!.id, time_execution: 2, test_files };
    expect(await pool.distribution(build!, () => false)).toEqual({ status: 200, body: JSON.stringify(expected) });
  });
});
