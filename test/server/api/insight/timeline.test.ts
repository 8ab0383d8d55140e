import { expect } from 'vitest';
import { AGE_HEADER } from '../../../../src/protocol/answers/build-head.js';
import { POOLED_TEST_FILES } from '../../../../src/server/engine/suites/plan-suite.js';
import type { Client } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import {
  buildKey,
  connect,
  initialise,
  manyPaths,
  newestBuild,
  pull,
  record,
  startSplit,
  timedTestFiles,
} from '../../../harness/messages.js';
import { SharedServer, startServerOnDisk, testsWith } from '../../../harness/server.js';
import { playCiRun } from '../../../recomputed/ci-runs.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });
const it = testsWith(shared);
const SUITE = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb'];
const INSIGHTS = ['minutes', 'timeline', 'forecast', 'trace'];

const RUN = `run of ${buildKey.commit_hash}`;

/** Two nodes run a queue: node 1 begins 5 s after node 0. Files take 5 s each. Returns the id of the build. */
async function runQueue(server: Client): Promise<string> {
  const files = Object.fromEntries(SUITE.map(path => [path, 5]));
  await playCiRun(server, clock, { mode: 'queue', commit_hash: buildKey.commit_hash, files, nodes: [{}, { start: 5 }] });
  return newestBuild(server);
}

it('a build has minutes, a timeline, a forecast, a trace, and can be played as it was', async ({ server }) => {
  const id = await runQueue(server);
  const [minutes, timeline, forecast, trace] = await Promise.all(
    INSIGHTS.map(async name => (await server.get(`/v1/builds/${id}/${name}`)).json),
  );
  const head = { build_id: id, ci_run: RUN, kind: 'queue', ...buildKey, is_running: false };
  for (const answer of [minutes, timeline, forecast]) expect(answer).toMatchObject(head);
  expect(minutes).toMatchObject({ files: 4, missing: [], missing_count: 0, failed: [], other_ci_runs: [], assumptions: [] });
  expect(minutes.slowest).toHaveLength(4);
  expect(timeline.paths.toSorted()).toEqual(SUITE);
  expect(timeline.estimates).toEqual([1, 1, 1, 1]);
  expect(timeline.is_guess).toEqual([1, 1, 1, 1]);
  const { variants, assumptions } = (await server.get(`/v1/builds/${id}/what_if?nodes=2&estimates=then`)).json;
  expect({ ...assumptions, ...variants[0] }).toMatchObject({ mode: 'queue', start_spread: 5, measured: minutes.wall });
  expect(variants[0].wall).toBeCloseTo(minutes.wall, 5);
  expect(forecast).toMatchObject({ unknown_files: 4, useful_nodes: 4, wall: minutes.wall, expected_end: null });
  const events = trace.traceEvents as { ph: string; name: string; cat?: string }[];
  expect(events.filter(({ name }) => name === 'thread_name')).toHaveLength(2);
  const files = events.filter(({ cat }) => cat === 'file').map(({ name }) => name);
  expect(files.sort()).toEqual(SUITE);
  expect(events.filter(({ ph }) => ph === 'C').at(-1)).toMatchObject({ args: { seconds: 0 } });
});

it.for([
  { mode: 'queue' as const, fails: [], told: [undefined, undefined, undefined] },
  { mode: 'reports' as const, fails: [], told: ['success', 'success', 'success'] },
  { mode: 'reports' as const, fails: [SUITE[1]!], told: ['failure', 'failure', 'failure'] },
])(
  'a $mode is a trace for a collector, with the outcome that its clients report: $fails failed',
  async ({ mode, fails, told }, { server }) => {
    const files = Object.fromEntries(SUITE.map(path => [path, 5]));
    await playCiRun(server, clock, { mode, fails, commit_hash: buildKey.commit_hash, files, nodes: [{}, { start: 5 }] });
    const { json } = await server.get(`/v1/builds/${await newestBuild(server)}/trace?format=otlp`);
    const [{ resource, scopeSpans }] = json.resourceSpans;
    const named = (all: any[]) => Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]]));
    expect(named(resource.attributes)).toMatchObject({
      'cicd.pipeline.run.id': RUN,
      'vcs.ref.head.name': buildKey.branch,
      'vcs.ref.head.revision': buildKey.commit_hash,
    });
    const [run, ...spans] = scopeSpans[0].spans.map((span: any) => ({ ...span, attributes: named(span.attributes) }));
    const nodes = spans.filter(({ attributes }: any) => attributes['cicd.pipeline.task.type'] === 'test');
    expect(BigInt(nodes[1].startTimeUnixNano) - BigInt(run.startTimeUnixNano)).toBe(5_000_000_000n);
    const ran = spans.filter(({ attributes }: any) => attributes['test.suite.name'] !== undefined);
    expect(ran.map(({ name }: any) => name).sort()).toEqual(SUITE);
    for (const file of ran) expect(BigInt(file.endTimeUnixNano) - BigInt(file.startTimeUnixNano)).toBe(5_000_000_000n);
    const firstOf = (all: any[], name: string) => all.map(({ attributes }) => attributes[name]).sort()[0];
    expect([
      firstOf([run], 'cicd.pipeline.result'),
      firstOf(nodes, 'cicd.pipeline.task.run.result'),
      firstOf(ran, 'test.suite.run.status'),
    ]).toEqual(told);
    const message = `test files: 0 missing, ${fails.length} failed`;
    expect(run.status).toEqual(fails.length > 0 ? { code: 2, message } : undefined);
  },
);

it('a trace has no other format', async ({ server }) => {
  const { status, json } = await server.get(`/v1/builds/${await runQueue(server)}/trace?format=zipkin`);
  expect([status, json.errors]).toEqual([422, [{ format: ['must be one of chrome, otlp'] }]]);
});

it.for(['minutes', 'timeline', 'forecast', 'why'])(
  '%s of a running build are sent again when more than the clock changed them',
  async (name, { server }) => {
    await initialise(server, SUITE);
    const { id } = (await shared.store.ciRuns.list(server.id, clock.now() + 1, 10))[0]!;
    await pull(server);
    const get = (tag: string | null) => server.get(`/v1/builds/${id}/${name}`, tag === null ? {} : { 'If-None-Match': tag });
    const first = await get(null);
    expect(first.status).toBe(200);
    clock.advance({ seconds: 7 });
    const again = await get(first.headers.get('etag'));
    const kept = {
      status: again.status,
      text: again.text,
      age: again.headers.get(AGE_HEADER),
      length: again.headers.get('content-length'),
    };
    expect(kept).toEqual({ status: 304, text: '', age: '7', length: null });
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));

    await pull(server, { node_index: 1 });
    const changed = await get(first.headers.get('etag'));
    expect(changed.status).toBe(200);
    expect(changed.json).toEqual((await get(null)).json);
    await record(server, { test_files: timedTestFiles({ [SUITE[0]!]: 2 }) });
    const recorded = await get(changed.headers.get('etag'));
    expect(recorded.status).toBe(200);

    // The figures that grow with the clock, and the time at which a silent node counts as lost.
    clock.advance(name === 'timeline' ? { seconds: 905 } : { seconds: 31 });
    expect((await get(recorded.headers.get('etag'))).status).toBe(200);
  },
);

it.for([
  { mode: 'reports' as const, fails: [], until: 12, done: { done_count: 2, failed_count: 0 } },
  { mode: 'reports' as const, fails: SUITE, until: 12, done: { done_count: 2, failed_count: 2 } },
  { mode: 'queue' as const, fails: SUITE, until: 12, done: { done_count: 0, failed_count: null } },
  { mode: 'split' as const, fails: [], until: 12, done: { done_count: 2, failed_count: null } },
  { mode: 'reports' as const, fails: [], until: 100, done: { done_count: 4, failed_count: 0 } },
])('a running build counts the files that are done, as far as clients say: $mode until $until s, $done', async (run, { server }) => {
  const { done, ...plan } = run;
  const files = Object.fromEntries(SUITE.map(path => [path, 5]));
  await playCiRun(server, clock, { ...plan, commit_hash: buildKey.commit_hash, files, nodes: [{}, { start: 3 }] });
  const { id } = (await shared.store.ciRuns.list(server.id, clock.now() + 1, 10))[0]!;
  expect((await server.get(`/v1/builds/${id}/minutes`)).json).toMatchObject({ ...done, files: 4, is_running: plan.until < 100 });
});

it('a build that has ended has no tag, and a large answer is compressed for those who take that', async ({ server }) => {
  const files = Object.fromEntries(manyPaths(2000).map(path => [path, 1]));
  await record(server, { test_files: timedTestFiles(files), ...buildKey, node_total: 1 });
  const path = `/v1/builds/${await newestBuild(server)}/timeline`;
  const [plain, small] = await Promise.all(['identity', 'gzip'].map(coding => server.get(path, { 'Accept-Encoding': coding })));
  expect([plain!.headers.get('etag'), plain!.headers.get('content-encoding')]).toEqual([null, null]);
  expect([small!.headers.get('content-encoding'), small!.headers.get('vary')]).toEqual(['gzip', 'Accept-Encoding']);
  expect(small!.text).toBe(plain!.text);
  expect(Number(small!.headers.get('content-length'))).toBeLessThan(plain!.text.length / 4);
});

it('a CI run of which nothing is recorded is found by its own id, and runs', async ({ server }) => {
  await initialise(server, SUITE);
  const { id } = (await shared.store.ciRuns.list(server.id, clock.now() + 1, 10))[0]!;
  await pull(server);
  clock.advance({ seconds: 30 });
  const { json } = await server.get(`/v1/builds/${id}/minutes`);
  expect(json).toMatchObject({ build_id: null, ci_run_id: id, is_running: true, wall: 30 });
  expect(json.verdict).toBe('The build is running: 1 of at most 2 nodes is at work, 0 have ended.');
  expect((await server.get(`/v1/builds/${id.toUpperCase()}/forecast`)).json).toMatchObject({
    ...{ ci_run_id: id, wall: null },
    // No file was ever measured.
    expected_end: null,
  });
});

it('a queue that runs has an expected end', async ({ server }) => {
  await record(server, { commit_hash: 'before', test_files: timedTestFiles(Object.fromEntries(SUITE.map(path => [path, 5]))) });
  clock.advance({ seconds: 60 });
  const startedAt = clock.now();
  await initialise(server, SUITE);
  await connect(server, { node_index: 1 });
  const { id } = (await shared.store.ciRuns.list(server.id, clock.now() + 1, 10))[0]!;
  clock.advance({ seconds: 4 });
  const { expected_end } = (await server.get(`/v1/builds/${id}/forecast`)).json;
  const [earliest, at, latest] = [expected_end.earliest, expected_end.at, expected_end.latest].map(Date.parse) as [number, number, number];
  // Each node has two files of 5 s, and pulls at least once.
  expect([at > startedAt + 10_000, at < startedAt + 20_000, earliest <= at, at <= latest]).toEqual([true, true, true, true]);
});

it('another CI run of the build is asked for by its id, or by that of the CI system', async ({ server }) => {
  const id = await runQueue(server);
  clock.advance({ seconds: 100 });
  await startSplit(server, SUITE, { ci_build_id: '7', fixed_test_suite_split: false });
  const newest = (await server.get(`/v1/builds/${id}/minutes`)).json;
  expect(newest).toMatchObject({ build_id: id, ci_run: '7', kind: 'split', is_running: true });
  expect(newest.other_ci_runs).toMatchObject([{ ci_run: RUN, kind: 'queue' }]);
  const other = (await server.get(`/v1/builds/${id}/minutes?ci_run=${newest.other_ci_runs[0].ci_run_id}`)).json;
  expect(other).toMatchObject({ build_id: id, ci_run: RUN, kind: 'queue', is_running: false, files: 4 });
  expect((await server.get(`/v1/builds/${newest.ci_run_id}/minutes`)).json.ci_run).toBe('7');
  const [{ ci_run_id }] = newest.other_ci_runs;
  for (const name of ['minutes', 'timeline', 'forecast', 'trace', 'why', 'what_if', 'comparison']) {
    const [byId, byName] = await Promise.all(
      [ci_run_id, RUN].map(ci_run => server.get(`/v1/builds/${id}/${name}?${new URLSearchParams({ ci_run })}`)),
    );
    expect([name, byId!.status, byName!.json]).toEqual([name, 200, byId!.json]);
  }
});

it('a CI run with a long id is found by all of it, and by the part that answers have', async ({ server }) => {
  const ids = ['1', '2'].map(end => `${'c'.repeat(300)}${end}`);
  for (const node_build_id of ids) {
    clock.advance({ seconds: 1 });
    await initialise(server, SUITE, { node_build_id });
  }
  await record(server, { test_files: [] });
  const url = `/v1/builds/${(await server.get('/v1/builds')).json.data[0].id}`;
  const { ci_runs } = (await server.get(url)).json;
  const found = async (ci_run: string) => (await server.get(`${url}/minutes?ci_run=${ci_run}`)).json.ci_run_id;
  expect(ci_runs.map(({ kind, ci_run }: any) => [kind, ci_run])).toEqual(Array(2).fill(['queue', 'c'.repeat(200)]));
  expect(await Promise.all([...ids.toReversed(), ci_runs[0].ci_run].map(found))).toEqual([0, 1, 0].map(i => ci_runs[i].ci_run_id));
});

it('the nodes of a split start when they first ask for their files, and lose the time of a restart', async ({ server }) => {
  const ids = { ci_build_id: '7', fixed_test_suite_split: false };
  await startSplit(server, SUITE, ids);
  clock.advance({ seconds: 5 });
  await startSplit(server, SUITE, { ...ids, node_index: 1 });
  clock.advance({ seconds: 15 });
  await startSplit(server, SUITE, { ...ids, node_index: 1 });
  clock.advance({ seconds: 40 });
  for (const [node_index, time] of [20, 15].entries()) {
    const files = Object.fromEntries(SUITE.slice(2 * node_index, 2 * node_index + 2).map(path => [path, time]));
    await record(server, { node_index, ci_build_id: '7', test_files: timedTestFiles(files) });
  }
  const [{ id }] = (await server.get('/v1/builds')).json.data;
  const { nodes, assumptions, wall } = (await server.get(`/v1/builds/${id}/minutes`)).json;
  const lost = nodes.map(({ start, gaps, unreported, idle }: any) => [start, gaps + unreported, idle]);
  expect({ wall, lost, assumptions }).toEqual({
    wall: 60,
    lost: [
      [0, 20, 0],
      [5, 25, 0],
    ],
    assumptions: [],
  });
});

it('absurdly large times and hostile paths are answered', async ({ server }) => {
  const paths = ['<img src=x onerror=alert(1)>', '\u202Egnp.exe', `${'x'.repeat(4000)}.rb`];
  await record(server, { test_files: paths.map((path, i) => ({ path, time_execution: i === 0 ? 1e308 : 1e300 })) });
  const [{ id }] = (await server.get('/v1/builds')).json.data;
  for (const name of ['minutes', 'timeline', 'trace']) {
    const { status, text } = await server.get(`/v1/builds/${id}/${name}`);
    expect([status, text.includes(JSON.stringify(paths[0]))]).toEqual([200, true]);
  }
});

it('worker threads see the batches of a large queue that are only in the journal', async () => {
  const server = await startServerOnDisk({ workers: '1' });
  await initialise(server, manyPaths(POOLED_TEST_FILES));
  await record(server, { node_index: 1, ci_build_id: '100', test_files: [] });
  const [{ id }] = (await server.get('/v1/builds')).json.data;
  await pull(server);
  const { json } = await server.get(`/v1/builds/${id}/timeline`);
  expect(json.nodes[0].spans).toMatchObject([{ batch: 0 }, { batch: 1 }]);
  expect((await server.get(`/v1/builds/${id}/why`)).json.batches).toMatchObject([
    { batch: 0, decision: { remaining: POOLED_TEST_FILES } },
    { batch: 1 },
  ]);
});
