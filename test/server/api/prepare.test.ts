import { Piscina } from 'piscina';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Segments, segment } from '../../../src/base/bytes.js';
import type { Context } from '../../../src/server/api/context.js';
import { JobRunner, WAITING_JOBS_PER_PROJECT } from '../../../src/server/api/job-runner.js';
import type { Posts, Prepared } from '../../../src/server/api/posts.js';
import { prepare } from '../../../src/server/api/prepare.js';
import { type Json, reads } from '../../../src/server/api/reads.js';
import { readBuild } from '../../../src/server/api/routes/builds.js';
import { createProject } from '../../../src/server/engine/access.js';
import type { Build } from '../../../src/server/engine/ports/builds.js';
import { POOLED_TEST_FILES, TEST_CASES_ON_MAIN_THREAD } from '../../../src/server/engine/suites/plan-suite.js';
import { ApiError } from '../../../src/server/http/api-error.js';
import { POOLED_BODY_BYTES } from '../../../src/server/http/body.js';
import type { Request } from '../../../src/server/http/request.js';
import { toWeight } from '../../../src/server/planning/weight.js';
import { openLog } from '../../../src/server/process/log.js';
import { serveFolder } from '../../../src/server/store/lmdb/folder/serve-folder.js';
import { Lanes } from '../../../src/server/threads/lanes.js';
import { startThreads } from '../../../src/server/threads/threads.js';
import { jobOf } from '../../harness/asker.js';
import { recordRun } from '../../harness/recording.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

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
  const filename = new URL('../../../src/server/process/worker.js', import.meta.url).href;
  const threads = startThreads({ filename, setup: { source: { dataDir }, tokenHeader, pullCost }, most: 1, isEager: false }, log);
  const summarizer = { learnFirst: async () => {} };
  context = { store, jobs: new JobRunner(store, threads, 1), summarizer, tokenHeader, pullCost, now: () => NOW } as unknown as Context;
});
afterAll(async () => {
  await context.jobs.close();
  await context.store.close();
});

/** Creates an empty project. */
const newProject = () => createProject(context.store.access, `project ${++projects}`, NOW);

/** The body of a request. Blanks make it so large that it goes to a thread before it is parsed. */
function bodyOf(parameters: object, where: 'main' | 'thread'): Uint8Array[] {
  const bytes = new TextEncoder().encode(JSON.stringify(parameters));
  if (where === 'main') return [bytes];
  const padded = new Uint8Array(POOLED_BODY_BYTES).fill(0x20);
  padded.set(bytes);
  // In pieces as from a socket; one ends in the middle of a character.
  const cut = bytes.findIndex(byte => byte > 0x7f) + 1;
  return [padded.slice(0, cut), padded.slice(cut, 2 * cut), padded.slice(2 * cut)];
}

const post = async <K extends keyof Posts>(job: K, body: Uint8Array[], token: string | null, hasLeft = () => false): Promise<Prepared<K>> =>
  prepare(context, job, { body, token, hasLeft } as Request);

/** Prepares the same POST on each of the two. */
const onBoth = <K extends keyof Posts>(job: K, body: object, token: string | null) =>
  Promise.all((['main', 'thread'] as const).map(where => post(job, bodyOf(body, where), token)));

const textOf = (json: Json) => Buffer.from(json as Uint8Array).toString();

const paths = (count: number) => Array.from({ length: count }, (_, i) => `spec/${i}_größe_spec.rb`);
const testFiles = (count: number) => paths(count).map(path => ({ path }));
/** A list of many files in a short body. */
const SHORT = Array.from({ length: POOLED_TEST_FILES }, (_, i) => ({ path: `${1000 + i}` }));

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
  prepareSplit: { ...key, ...person, ci_build_id: 17, cache_read_attempt: 'false', test_files: testFiles(400) },
  prepareQueue: {
    ...key,
    ...person,
    node_build_id: 17,
    can_initialize_queue: true,
    attempt_connect_to_queue: false,
    batch_uuid: 'u-1',
    test_files: [...testFiles(400), ...testFiles(3)],
  },
  prepareCases: {
    ...key,
    ci_build_id: 17,
    files: paths(100).map(path => ({ path, seconds: 2, cases: [{ name: 'größe', seconds: 1, outcome: 'passed' }] })),
  },
  prepareHeartbeat: { ...key, ...person, test_queue_id: 17, node_uuid: 'n-1' },
  prepareCancel: { ...key, ...person, test_queue_id: 17, node_uuid: 'n-1' },
  preparePlan: { branch: 'main', nodes: '1..4', test_files: testFiles(400) },
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

/** Records the times of test files, in a build of their own. */
async function recordTimes(project: number, times: Record<string, number>, at: number): Promise<void> {
  const files = Object.entries(times).map(([path, time_execution]) => ({ path, time_execution }));
  await recordRun(context.store, project, { ...key, commit_hash: `times ${at}` }, files, at);
}

describe('a POST that a thread prepares', () => {
  it.each(Object.keys(parameters) as (keyof Posts)[])('has the same result from %s as on the main thread', async job => {
    const { id: project, token } = await newProject();
    const measured = paths(400).filter((_, i) => i % 5 > 0);
    await recordTimes(project, Object.fromEntries(measured.map((path, i) => [path, 0.5 + ((i * 37) % 100)])), NOW);
    const [main, thread] = await onBoth(job, parameters[job], token);
    expect(readable(thread!)).toEqual(readable(main!));
    expect(main!.project).toBe(project);
    expect(JSON.stringify(readable(thread!))).not.toContain('Some');
  });

  it('sees timings that were recorded just before', async () => {
    const { id: project, token } = await newProject();
    for (let seconds = 1; seconds <= 5; seconds++) {
      await recordTimes(project, { [paths(1)[0]!]: seconds }, NOW + seconds);
      const [main, thread] = await onBoth('prepareQueue', parameters.prepareQueue, token);
      expect(readable(thread!)).toEqual(readable(main!));
      expect(main!.prepared.planned.plan!.forecast.unknown_files).toBe(399);
    }
  });

  it('may have a short body that lists many files', async () => {
    const { token } = await newProject();
    const [body] = bodyOf({ ...parameters.prepareSplit, test_files: SHORT }, 'main') as [Uint8Array];
    expect(body.length).toBeLessThan(POOLED_BODY_BYTES);
    expect((await post('prepareSplit', [body], token)).prepared.planned.plan!.list.test_files).toBe(POOLED_TEST_FILES);
    // The memory of the socket was copied, not transferred.
    expect(body.buffer.byteLength).toBeGreaterThan(0);
  });

  it.each([
    ['is short but lists many files', (body: object) => bodyOf({ ...body, test_files: SHORT }, 'main')],
    [
      'is large and begins with its token',
      ({ test_suite_token, ...body }: Record<string, unknown>) => bodyOf({ test_suite_token, ...body }, 'thread'),
    ],
    [
      'is large and ends with its token',
      (body: object) => [new Uint8Array(POOLED_BODY_BYTES).fill(0x20), new TextEncoder().encode(JSON.stringify(body))],
    ],
  ])('waits in the queue of its project when its token is in its body: it %s', async (_, bodyWith) => {
    const { id, token: test_suite_token } = await newProject();
    const owners = vi.spyOn(Lanes.prototype, 'run');
    const tasks = vi.spyOn(Piscina.prototype, 'run');
    onTestFinished(() => void vi.restoreAllMocks());
    const body = bodyWith({ ...parameters.prepareSplit, test_suite_token });
    expect((await post('prepareSplit', body, null)).project).toBe(id);
    expect(owners).toHaveBeenCalledExactlyOnceWith(expect.anything(), id, expect.anything());
    // The thread authenticates a large body. The main thread only guessed its project.
    expect(tasks.mock.calls.at(-1)![0]).toMatchObject({ input: { project: body.length === 1 ? id : null } });
  });

  it('may list a file of thousands of test cases, in memory that cannot be transferred', async () => {
    const { id: project, token } = await newProject();
    const cases = Array.from({ length: TEST_CASES_ON_MAIN_THREAD + 5 }, (_, i) => `a.py::test_${i}`);
    await recordTimes(project, Object.fromEntries(cases.map(path => [path, 1])), NOW);
    // In the shared pool of Node, which cannot be transferred.
    const body = Buffer.from(JSON.stringify({ ...parameters.prepareQueue, test_files: [{ path: 'a.py' }] }));
    expect(body.buffer.byteLength).toBeGreaterThan(body.length);
    const { prepared } = await post('prepareQueue', [body], token);
    expect(prepared.planned.plan!.weights).toEqual(Float64Array.of(toWeight(TEST_CASES_ON_MAIN_THREAD + 5)));
    expect(JSON.parse(body.toString())).toMatchObject(key);
  });

  it.each([
    ['has no token', JSON.stringify(parameters.prepareSubset), 403],
    ['has an unknown token', JSON.stringify({ ...parameters.prepareSubset, test_suite_token: 'x'.repeat(40) }), 403],
    ['is not JSON', '{"commit_hash": ', 400],
    ['is not an object', '[1, 2]', 400],
    ['has invalid parameters', JSON.stringify({ ...key, node_index: 7, test_files: [{ path: 'a' }, 5] }), 422],
    ['has an invalid last entry', JSON.stringify({ ...key, test_files: [...testFiles(500), { time: 1 }] }), 422],
  ])('that %s gets the same error as on the main thread', async (_, text, status) => {
    const token = status === 403 ? null : (await newProject()).token;
    const encode = (body: string) => new TextEncoder().encode(body);
    const results = [text, text.padEnd(POOLED_BODY_BYTES)].map(body => post('prepareSubset', [encode(body)], token));
    const [main, thread] = (await Promise.allSettled(results)).map(result => (result as PromiseRejectedResult).reason as unknown);
    expect(thread).toBeInstanceOf(ApiError);
    expect(JSON.stringify(thread)).toBe(JSON.stringify(main));
    expect(main).toMatchObject({ status });
    if (token === null) expect(main).toMatchObject({ errors: [expect.stringContaining('invalid test suite token')] });
  });

  it('is skipped if its client left before its turn', async () => {
    const { token } = await newProject();
    const body = () => bodyOf(parameters.prepareSplit, 'thread');
    const results = Array.from({ length: 10 }, (_, i) => post('prepareSplit', body(), token, () => i === 9));
    const settled = await Promise.allSettled(results);
    expect(settled.map(({ status }) => status)).toEqual([...Array<string>(9).fill('fulfilled'), 'rejected']);
    expect(settled[9]).toMatchObject({ reason: { status: 408 } });
  });
});

describe('an answer about a large build', () => {
  /** Records a build in which each node has the same number of test files. */
  async function buildOf(nodes: number, files: number): Promise<Build> {
    const { id: project } = await newProject();
    for (let node_index = 0; node_index < nodes; node_index++) {
      const test_files = paths(files).map((path, i) => ({ path, time_execution: (i * (node_index + 7)) % 50 }));
      await recordRun(context.store, project, { ...key, node_index }, test_files, NOW + node_index);
    }
    return (await context.store.builds.find(project, key))!;
  }

  it('that is far down the list of builds is the same from a thread as from the main thread', async () => {
    const { jobs } = context;
    const build = await buildOf(2, 1);
    const asked = { project: build.project, filter: { branch: build.branch }, part: { offset: 0, limit: 100 } };
    const [here, there] = await Promise.all(
      [true, false].map(isHere => jobs.read('pageOfBuilds', asked, jobOf(build.project), { isHere })),
    );
    expect(textOf(there!.json)).toBe(here!.json);
    expect(JSON.parse(here!.json as string)).toMatchObject([{ id: build.id }]);
  });

  it('is the same from a thread as from the main thread', async () => {
    const { store, jobs } = context;
    const build = await buildOf(3, 600);
    const asker = jobOf(build.project);
    const [{ body, rest }, { json: distribution }] = await Promise.all([
      readBuild(context, build, asker),
      jobs.read('recordedDistribution', build, asker),
    ]);
    expect([body, distribution].every(bytes => bytes instanceof Uint8Array)).toBe(true);
    expect(JSON.parse(textOf(body))).toMatchObject({
      id: build.id,
      build_subsets: [{ node_index: 2 }, { node_index: 1 }, { node_index: 0 }],
    });
    expect(textOf(distribution)).toBe((await reads.recordedDistribution(store, build)).json);
    // It is one piece.
    expect(rest).toBeUndefined();
  });

  it('is streamed for a larger build, and not refused in the middle', async () => {
    const build = await buildOf(2, 5000);
    const { body, rest } = await readBuild(context, build, jobOf(build.project));
    const left = jobOf(build.project, () => true);
    const others = Array.from({ length: WAITING_JOBS_PER_PROJECT + 10 }, () => readBuild(context, build, left).catch(() => {}));
    const pieces = [body as Uint8Array];
    for await (const piece of rest!) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    const { build_subsets } = JSON.parse(Buffer.concat(pieces).toString()) as { build_subsets: { test_files: object[] }[] };
    expect(build_subsets.map(({ test_files }) => test_files.length)).toEqual([5000, 5000]);
    await Promise.all(others);
  });

  it('is built on the main thread if the build is small', async () => {
    const run = vi.spyOn(Piscina.prototype, 'run');
    onTestFinished(() => run.mockRestore());
    const build = await buildOf(1, 2);
    const { body, rest } = await readBuild(context, build, jobOf(build.project));
    expect(JSON.parse(textOf(body as Json))).toMatchObject({ id: build.id });
    expect(rest).toBeUndefined();
    expect(run).not.toHaveBeenCalled();
  });
});
