import { Piscina } from 'piscina';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Context } from '../../src/api/context.js';
import { prepare } from '../../src/api/prepare.js';
import { ApiError } from '../../src/api-error.js';
import { createProject } from '../../src/engine/access.js';
import type { Build } from '../../src/engine/ports/builds.js';
import { type Segments, segment } from '../../src/engine/segments.js';
import type { Request } from '../../src/http/request.js';
import { limits } from '../../src/limits.js';
import { toWeight } from '../../src/planning/weight.js';
import { openLog } from '../../src/server/log.js';
import { serveFolder } from '../../src/store/lmdb/serve-folder.js';
import { FairSemaphore } from '../../src/workers/fair-semaphore.js';
import { type Posts, reads } from '../../src/workers/jobs.js';
import { WorkerPool } from '../../src/workers/pool.js';
import type { Json } from '../../src/workers/reads.js';
import type { Prepared } from '../../src/workers/task.js';
import { startThreads } from '../../src/workers/threads.js';
import { recordRun } from '../harness/recording.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const NOW = Date.UTC(2026, 0, 1);
const tokenHeader = 'SERVICE-TEST-SUITE-TOKEN';
const pullCost = 20_000;

/** One pool for all tests, as each starts a thread, which loads the program again. */
let context: Context;
let projects = 0;
beforeAll(async () => {
  const dataDir = temporaryFolder(afterAll);
  const log = openLog('silent');
  const store = await serveFolder(dataDir, log);
  const workers = new WorkerPool(store, await startThreads({ dataDir, tokenHeader, pullCost }, 1, false, log), 2);
  context = { store, workers, tokenHeader, pullCost } as unknown as Context;
});
afterAll(async () => {
  await context.workers.close();
  await context.store.close();
});

/** A project of which nothing is known. */
const newProject = () => createProject(context.store.access, `project ${++projects}`, NOW);

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

const post = <K extends keyof Posts>(job: K, body: Uint8Array[], token: string | null, hasLeft = () => false): Promise<Prepared<K>> =>
  prepare(context, job, { body, token, hasLeft } as Request);

const textOf = (json: Json) => Buffer.from(json as Uint8Array).toString();

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

/** With blocks of bytes as texts: between threads a Buffer becomes a plain array of bytes. */
function readable(prepared: Prepared<keyof Posts>): unknown {
  const text = JSON.stringify(prepared, (_, value: unknown) => {
    if (isSegments(value)) return Array.from(value.ends, (_end, i) => segment(value, i).toString());
    return value instanceof Float64Array ? [...value] : value;
  });
  return JSON.parse(text);
}

const errorOf = (result: Promise<unknown>): Promise<unknown> =>
  result.then(
    () => expect.fail('it was prepared'),
    (error: unknown) => error,
  );

/** Records the times of test files, in a build of their own. */
async function recordTimes(project: number, times: Record<string, number>, at: number): Promise<void> {
  const files = Object.entries(times).map(([path, time_execution]) => ({ path, time_execution }));
  await recordRun(context.store, project, { ...key, commit_hash: `times ${at}` }, files, at);
}

describe('a POST that a thread prepares', () => {
  it.each(Object.keys(parameters) as (keyof Posts)[])('comes out of %s as it would here', async job => {
    const { id: project, token } = await newProject();
    const measured = paths(400).filter((_, i) => i % 5 > 0);
    await recordTimes(project, Object.fromEntries(measured.map((path, i) => [path, 0.5 + ((i * 37) % 100)])), NOW);
    const here = await post(job, bodyOf(parameters[job], 'here'), token);
    const thread = await post(job, bodyOf(parameters[job], 'thread'), token);
    expect(readable(thread)).toEqual(readable(here));
    expect(here.project).toBe(project);
    expect(JSON.stringify(readable(thread))).not.toContain('Some');
  });

  it('knows the timings that were recorded a moment before', async () => {
    const { id: project, token } = await newProject();
    for (let seconds = 1; seconds <= 5; seconds++) {
      await recordTimes(project, { [paths(1)[0]!]: seconds }, NOW + seconds);
      const results = (['here', 'thread'] as const).map(where => post('prepareQueue', bodyOf(parameters.prepareQueue, where), token));
      const [here, thread] = await Promise.all(results);
      expect(readable(thread!)).toEqual(readable(here!));
      expect(here!.prepared.planned.plan!.forecast.unknown_files).toBe(399);
    }
  });

  it('goes to a thread also when it is short but lists many files', async () => {
    const { token } = await newProject();
    const test_files = Array.from({ length: limits.pooledTestFiles }, (_, i) => ({ path: `${1000 + i}` }));
    const [body] = bodyOf({ ...parameters.prepareSplit, test_files }, 'here') as [Uint8Array];
    expect(body.length).toBeLessThan(limits.pooledBodyBytes);
    const { prepared } = await post('prepareSplit', [body], token);
    expect(prepared.planned.plan!.files.ends.length).toBe(key.node_total);
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
    const { id, token: test_suite_token } = await newProject();
    const owners = vi.spyOn(FairSemaphore.prototype, 'run');
    const tasks = vi.spyOn(Piscina.prototype, 'run');
    onTestFinished(() => {
      for (const spy of [owners, tasks]) spy.mockRestore();
    });
    const body = bodyWith({ ...parameters.prepareSplit, test_suite_token });
    expect((await post('prepareSplit', body, null)).project).toBe(id);
    expect(owners).toHaveBeenCalledExactlyOnceWith(id, expect.anything());
    // The thread checks what was only guessed.
    expect(tasks.mock.calls.at(-1)![0]).toMatchObject({ project: body.length === 1 ? id : null });
  });

  it('goes to a thread also when it names a file of thousands of test cases, wherever its bytes lie', async () => {
    const { id: project, token } = await newProject();
    const cases = Array.from({ length: limits.testCasesOnMainThread + 5 }, (_, i) => `a.py::test_${i}`);
    await recordTimes(project, Object.fromEntries(cases.map(path => [path, 1])), NOW);
    // In memory that Node shares out, and does not let go to a thread.
    const body = Buffer.from(JSON.stringify({ ...parameters.prepareQueue, test_files: [{ path: 'a.py' }] }));
    expect(body.buffer.byteLength).toBeGreaterThan(body.length);
    const { prepared } = await post('prepareQueue', [body], token);
    expect(prepared.planned.plan!.weights).toEqual(Float64Array.of(toWeight(limits.testCasesOnMainThread + 5)));
    expect(JSON.parse(body.toString())).toMatchObject(key);
  });

  it.each([
    ['has no token', {}, 403],
    ['has an unknown token', { test_suite_token: 'x'.repeat(40) }, 403],
    ['has the right token', null, 200],
  ])('%s in its body: is answered as it would be here', async (_, token, status) => {
    const { id, token: test_suite_token } = await newProject();
    const body = { ...parameters.prepareSplit, ...(token ?? { test_suite_token }) };
    const results = (['here', 'thread'] as const).map(where => post('prepareSplit', bodyOf(body, where), null));
    if (status === 200) {
      for (const { project } of await Promise.all(results)) expect(project).toBe(id);
      return;
    }
    const [here, thread] = await Promise.all(results.map(errorOf));
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
    const { token } = await newProject();
    const encode = (body: string) => new TextEncoder().encode(body);
    const results = [text, text.padEnd(limits.pooledBodyBytes)].map(body => post('prepareSubset', [encode(body)], token));
    const [here, thread] = await Promise.all(results.map(errorOf));
    expect(thread).toBeInstanceOf(ApiError);
    expect(JSON.stringify(thread)).toBe(JSON.stringify(here));
    expect(here).toMatchObject({ status });
  });

  it('is not worked on when its client left before its turn came', async () => {
    const { token } = await newProject();
    const body = () => bodyOf(parameters.prepareSplit, 'thread');
    const results = Array.from({ length: 10 }, (_, i) => post('prepareSplit', body(), token, () => i === 9));
    const settled = await Promise.allSettled(results);
    expect(settled.map(({ status }) => status)).toEqual([...Array<string>(9).fill('fulfilled'), 'rejected']);
    expect(await errorOf(results[9]!)).toMatchObject({ status: 408 });
  });

  it('is refused when too many wait already, and those that wait are prepared', async () => {
    const { id, token } = await newProject();
    const results = Array.from({ length: limits.waitingJobsPerProject + 40 }, () =>
      post('prepareSplit', bodyOf(parameters.prepareSplit, 'thread'), token),
    );
    const settled = await Promise.allSettled(results);
    const refused = settled.flatMap(result => (result.status === 'rejected' ? [result.reason as ApiError] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(settled.length - refused.length).toBeGreaterThanOrEqual(limits.waitingJobsPerProject);
    for (const error of refused) {
      expect(error).toMatchObject({ status: 503, headers: { 'Retry-After': String(limits.retryAfterSeconds) } });
    }
    expect((await post('prepareSplit', bodyOf(parameters.prepareSplit, 'thread'), token)).project).toBe(id);
  });
});

describe('an answer about a large build', () => {
  const stays = () => false;

  /** A build of so many nodes, each with as many test files. */
  async function buildOf(nodes: number, files: number): Promise<Build> {
    const { id: project } = await newProject();
    for (let node_index = 0; node_index < nodes; node_index++) {
      const test_files = paths(files).map((path, i) => ({ path, time_execution: (i * (node_index + 7)) % 50 }));
      await recordRun(context.store, project, { ...key, node_index }, test_files, NOW + node_index);
    }
    return (await context.store.builds.find(project, key))!;
  }

  it('is built in a thread as it would be here', async () => {
    const { store, workers } = context;
    const build = await buildOf(3, 600);
    const [{ json, rest }, distribution] = await Promise.all([workers.build(build, stays), workers.distribution(build, stays)]);
    expect([json, distribution].every(bytes => bytes instanceof Uint8Array)).toBe(true);
    expect(JSON.parse(textOf(json))).toMatchObject({
      id: build.id,
      build_subsets: [{ node_index: 2 }, { node_index: 1 }, { node_index: 0 }],
    });
    expect(textOf(distribution)).toBe((await reads.recordedDistribution(store, build)).json);
    // All in one piece.
    expect(rest).toBeUndefined();
  });

  it('comes piece by piece when the build is larger, and is not refused in the middle', async () => {
    const { workers } = context;
    const build = await buildOf(2, 5000);
    const { json, rest } = await workers.build(build, stays);
    const others = Array.from({ length: limits.waitingJobsPerProject + 10 }, () => workers.build(build, () => true).catch(() => {}));
    const pieces = [json as Uint8Array];
    for await (const piece of rest!) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    const { build_subsets } = JSON.parse(Buffer.concat(pieces).toString()) as { build_subsets: { test_files: object[] }[] };
    expect(build_subsets.map(({ test_files }) => test_files.length)).toEqual([5000, 5000]);
    await Promise.all(others);
  });

  it('is built here when the build is small', async () => {
    const run = vi.spyOn(Piscina.prototype, 'run');
    onTestFinished(() => run.mockRestore());
    const build = await buildOf(1, 2);
    expect(JSON.parse((await context.workers.distribution(build, stays)) as string)).toMatchObject({ build_distribution_id: build.id });
    expect((await context.workers.build(build, stays)).rest).toBeUndefined();
    expect(run).not.toHaveBeenCalled();
  });
});
