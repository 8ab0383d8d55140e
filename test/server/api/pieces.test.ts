import { describe, expect, it } from 'vitest';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import { pieceOf, piecePath } from '../../../src/protocol/piece-path.js';
import type { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { getCompleteness, recordPaths } from '../../harness/completeness.js';
import { buildKey, record, sortPaths, testQueueMessage, timedTestFiles } from '../../harness/messages.js';
import { startServer } from '../../harness/server.js';

const LONG = 'tests/test_größe.py';
const SUITE = [LONG, ...Array.from({ length: 20 }, (_, i) => `tests/test_${i + 10}.py`)];
const CASES = Array.from({ length: 12 }, (_, i) => `TestA::test_b[${i} "'$\\]`);
const build = { ...buildKey, node_total: 4 };
const report = (name: string) => ({ name, seconds: 10, outcome: 'passed' });

/** A server that knows the times of the suite and the cases of the long file: it takes as long as all others together. */
async function learned(cases: readonly object[] = CASES.map(report), more: object = {}, now = Date.now) {
  const server = await startServer({}, now);
  const times = Object.fromEntries(SUITE.map(path => [path, path === LONG ? 120 : 6]));
  await record(server, { ...build, node_index: 0, test_files: timedTestFiles(times) });
  await tell(server, [{ path: LONG, seconds: 120, cases }], more);
  return server;
}

async function tell(client: Client, files: readonly object[], more: object = {}) {
  const reply = await client.post('/v2/test_cases', { ...build, node_index: 0, ci_build_id: '1', runner: 'pytest', files, ...more });
  expect(reply).toMatchObject({ status: 200, json: { kept: files.length } });
}

const first = { can_initialize_queue: true, paths: SUITE, wants_times: true, pieces: 'pytest', node_total: 4 };
const pull = (client: Client, node_index: number, more: object) =>
  client.post('/v2/queues/queue', testQueueMessage({ node_total: 4, node_index, node_uuid: `node ${node_index}`, ...more }));

interface Handed {
  path: string;
  cases: string[];
  others: string[] | null;
  outcomes: { name: string; outcomes: object }[];
  is_trial: boolean;
}

/** Has one node take all batches of a queue. Returns what it was handed, and records it. */
async function takeAll(client: Client, { paths = SUITE, ...more }: { paths?: string[]; test_queue_id?: string } = {}) {
  const taken: string[] = [];
  const pieces: Handed[] = [];
  let [reply, batch_index] = [await pull(client, 0, { ...first, ...more, paths }), 0];
  const { forecast } = reply.json;
  for (; reply.json.paths.length > 0; ) {
    taken.push(...reply.json.paths);
    const handed: Handed[] = reply.json.pieces ?? [];
    // The answer that has a piece tells what it has to run, and the others tell nothing of pieces.
    expect(handed.map(({ path }) => path)).toEqual(reply.json.paths.filter((path: string) => !paths.includes(path)));
    expect('pieces' in reply.json).toBe(handed.length > 0);
    pieces.push(...handed);
    const next = {
      ...more,
      pieces: 'pytest',
      wants_times: true,
      batch_index: ++batch_index,
      batch_id: reply.json.batch_id,
      failed_paths: [],
    };
    reply = await pull(client, 0, next);
    expect(reply.status).toBe(200);
  }
  await recordPaths(client, 0, taken, { ...build, ci_build_id: more.test_queue_id ?? '100' });
  return { paths: taken, pieces, forecast };
}

describe('a queue of a client that runs pieces', () => {
  it('has a long file in pieces, with each case in one of them, and the rest in the last', async () => {
    const server = await learned();
    const { paths, pieces, forecast } = await takeAll(server);
    expect(pieces.length).toBeGreaterThan(1);
    const names = pieces.map((_, i) => piecePath({ file: LONG, number: i + 1, count: pieces.length }));
    expect(sortPaths(paths)).toEqual(sortPaths([...SUITE.filter(path => path !== LONG), ...names]));
    const sorted = pieces.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    expect(sorted.flatMap(({ cases }) => cases)).toEqual(CASES);
    const last = sorted.at(-1)!;
    expect(last.others).toEqual(CASES.filter(name => !last.cases.includes(name)));
    expect(sorted.slice(0, -1).every(({ others }) => others === null)).toBe(true);
    expect(sorted.every(({ is_trial }) => is_trial)).toBe(true);
    expect(forecast.cutting).toEqual({ files: 1, saves: expect.any(Number), is_done: true });
    expect(forecast.test_files).toBe(SUITE.length);
  });

  it('tells each piece which of its names do not stand for one case that ran in the whole file', async () => {
    const odd = ['passed', 'failed', 'expected_failure', 'skipped', 'skipped'];
    // One name in an entry for each case, and one in an entry for many.
    const entries = (name: string, i: number) =>
      i === 1 ? odd.map(outcome => ({ name, seconds: 2, outcome })) : { ...report(name), ...(i === 2 && { count: 3000 }) };
    const server = await learned([...CASES.flatMap(entries), { ...report('never'), outcome: 'skipped' }]);
    const { pieces } = await takeAll(server);
    expect(pieces.flatMap(({ cases }) => cases)).not.toContain('never');
    const [named, many, last] = [
      { passed: 2, expected_failure: 1, skipped: 2 },
      { passed: 3000, expected_failure: 0, skipped: 0 },
      { passed: 0, expected_failure: 0, skipped: 1 },
    ];
    for (const { cases, others, outcomes } of pieces)
      expect(outcomes).toEqual([
        ...(cases.includes(CASES[1]!) ? [{ name: CASES[1], outcomes: named }] : []),
        ...(cases.includes(CASES[2]!) ? [{ name: CASES[2], outcomes: many }] : []),
        ...(others ? [{ name: 'never', outcomes: last }] : []),
      ]);
  });

  it('is played with other numbers of nodes in other pieces, and tells what they bring', async () => {
    // All nodes come at the same time.
    const clock = new Clock();
    const server = await learned(undefined, {}, clock.now);
    const { paths, pieces } = await takeAll(server);
    const secondsOf = (path: string) => 10 * (pieces.find(piece => piece.path === path)?.cases.length ?? 0.6);
    const test_files = timedTestFiles(Object.fromEntries(paths.map(path => [path, secondsOf(path)])));
    await record(server, { ...build, node_index: 0, ci_build_id: '100', test_files });
    for (const node_index of [1, 2, 3]) await record(server, { ...build, node_index, ci_build_id: '100', test_files: [] });
    const { build_id } = (await server.get('/v1/builds?limit=1')).json.data.map(({ id }: { id: string }) => ({ build_id: id }))[0];
    const whatIf = async (query: string) =>
      (await server.get(`/v1/builds/${build_id}/what_if?nodes=4,16&start_spread=0&pull_cost=0${query}`)).json;
    const [asItWas, whole] = [await whatIf(''), await whatIf('&in_pieces=false')];
    expect([asItWas.assumptions.in_pieces, whole.assumptions.in_pieces]).toEqual([true, false]);
    expect(asItWas.worth_cutting).toEqual([]);
    const walls = ({ variants }: { variants: { wall: number }[] }) => variants.map(({ wall }) => wall);
    expect(walls(asItWas)[1]).toBeLessThan(walls(asItWas)[0]! / 2);
    expect(walls(whole)[1]).toBe(walls(whole)[0]);
    const gain = { files: 1, saves: expect.closeTo(walls(whole)[0]! - walls(asItWas)[0]!, 2) };
    expect([asItWas.pieces, whole.pieces]).toEqual([gain, gain]);
    expect((await server.get(`/v1/builds/${build_id}/what_if?in_pieces=true&cut=${encodeURIComponent(LONG)}`)).json).toMatchObject({
      errors: [{ cut: ['cannot be combined with in_pieces'] }],
    });
    const { json: plan } = await server.post('/v1/plan', { branch: 'main', nodes: '4,16' });
    expect(plan).toMatchObject({ files: SUITE.length, unknown_files: 0, assumptions: { in_pieces: true } });
    expect(walls(plan)[1]).toBeLessThan(walls(plan)[0]! / 2);
    const ofPiece = await server.get(`/v1/trends/files/history?path=${encodeURIComponent(pieces[0]!.path)}`);
    expect(ofPiece.json).toMatchObject({ path: LONG, cut: { build_id, pieces: pieces.length, is_done: true }, cut_saves: gain.saves });
  });

  it('is complete when every piece is recorded, and names a piece that is not', async () => {
    const server = await learned();
    await takeAll(server);
    expect(await getCompleteness(server, { ...build, node_build_id: '100' })).toMatchObject({ status: 200, json: { errors: [] } });
    await server.service.summarize();
    const [{ summary, build_id }] = (await server.get('/v1/build_summaries')).json.builds;
    expect(summary).toMatchObject({ files: SUITE.length, missing: 0 });
    expect((await server.get(`/v1/builds/${build_id}/minutes`)).json).toMatchObject({ files: SUITE.length, missing_count: 0 });
    const { json: batch } = await pull(server, 0, { ...first, test_queue_id: '101' });
    const { status, json } = await getCompleteness(server, { ...build, node_build_id: '101' });
    expect(status).toBe(409);
    const missing = [...json.handed_out_not_recorded, ...json.never_handed_out].map(({ path }) => pieceOf(path)).filter(Boolean);
    expect(missing).toHaveLength(missing[0]!.count);
    expect(json.errors.join()).toContain(`of ${SUITE.length - 1 + missing[0]!.count} test files and pieces`);
    expect(json).toMatchObject({ test_files: SUITE.length, recorded: 0 });
    expect(batch.paths.some((path: string) => path.startsWith(LONG))).toBe(true);
  });

  it('leaves files in the last distribution, and no pieces', async () => {
    const server = await learned();
    await takeAll(server);
    const query = new URLSearchParams({ ...buildKey, node_total: '4', node_index: '0' });
    const { json } = await server.get(`/v1/build_distributions/last?${query}`);
    expect(sortPaths(json.test_files.map(({ path }: { path: string }) => path))).toEqual(sortPaths(SUITE));
  });

  it('gives nothing to a node that runs no pieces', async () => {
    const server = await learned();
    await pull(server, 0, first);
    const other = await pull(server, 1, { ...first, pieces: undefined });
    expect(other.status).toBe(409);
    expect(other.json.errors[0]).toContain('--pieces');
    expect(await pull(server, 1, first)).toMatchObject({ status: 200 });
    const older = await server.post('/v1/queues/queue', { ...build, node_index: 1, can_initialize_queue: false, node_build_id: '100' });
    expect(older.status).toBe(409);
  });

  it('gives nothing to a node that runs pieces with another test runner', async () => {
    const server = await learned();
    await pull(server, 0, first);
    const other = await pull(server, 1, { ...first, pieces: 'jest' });
    expect(other).toMatchObject({
      status: 409,
      json: { errors: [expect.stringContaining('pieces for "pytest", but this node runs pieces with "jest"')] },
    });
    const later = await pull(server, 1, { pieces: 'jest', batch_index: 1, failed_paths: [] });
    expect(later.status).toBe(409);
    const { json } = await getCompleteness(server, { ...build, node_build_id: '100' });
    expect(json.handed_out_not_recorded.map(({ node_index }: { node_index: number }) => node_index)).not.toContain(1);
    expect(await pull(server, 1, first)).toMatchObject({ status: 200 });
  });

  it('is of the list that the nodes have', async () => {
    const server = await learned();
    await pull(server, 0, first);
    expect(await pull(server, 1, { ...first, paths: [...SUITE].reverse() })).toMatchObject({ status: 200 });
    const paths = [...SUITE, 'tests/test_new.py'];
    const other = await pull(server, 2, { ...first, paths, test_files_digest: digestOfList(paths) });
    expect(other.status).toBe(409);
    expect(other.json.errors[0]).toContain('none only in the queue, "tests/test_new.py" only on this node');
  });

  it('lists a failed piece as its file', async () => {
    const server = await learned();
    const { json } = await pull(server, 0, first);
    const failed_paths = json.pieces.map(({ path }: Handed) => path);
    expect(failed_paths.length).toBeGreaterThan(0);
    await pull(server, 0, { pieces: 'pytest', batch_index: 1, batch_id: json.batch_id, failed_paths });
    await record(server, { ...build, node_index: 0, test_files: [] });
    expect((await server.get('/v2/test_paths?branch=main')).json.failed_paths).toEqual([LONG]);
  });
});

describe('a file with the name of a piece', () => {
  const named = `${LONG}::piece 1 of 2`;
  const paths = [...SUITE, named];

  it('keeps a queue from being cut, and runs as any other file', async () => {
    const server = await learned();
    const ran = await takeAll(server, { paths });
    expect([sortPaths(ran.paths), ran.pieces]).toEqual([sortPaths(paths), []]);
    const { status, json } = await getCompleteness(server, { ...build, node_build_id: '100' });
    expect([status, json.test_files, json.recorded]).toEqual([200, paths.length, paths.length]);
  });

  it('is handed out, verified and repeated as it is listed', async () => {
    const server = await startServer();
    const queue = { ...build, node_index: 0, node_build_id: '100', fixed_queue_split: true };
    const begin = (more: object = {}, listed = [LONG, named]) =>
      server.post('/v1/queues/queue', {
        ...{ ...queue, can_initialize_queue: true, attempt_connect_to_queue: false },
        ...{ test_files: listed.map(path => ({ path })), ...more },
      });
    const handed: string[] = [];
    for (let reply = await begin(); reply.json.test_files.length > 0; ) {
      handed.push(...reply.json.test_files.map(({ path }: { path: string }) => path));
      reply = await server.post('/v1/queues/queue', { ...queue, can_initialize_queue: false });
    }
    expect(sortPaths(handed)).toEqual([LONG, named]);
    const gate = async () => {
      const { status, json } = await getCompleteness(server, { ...build, node_build_id: '100' });
      return [status, json.test_files, json.recorded, json.handed_out_not_recorded.map(({ path }: { path: string }) => path)];
    };
    await recordPaths(server, 0, [LONG], { ...build, ci_build_id: '100' });
    expect(await gate()).toEqual([409, 2, 1, [named]]);
    await recordPaths(server, 0, [named], { ...build, ci_build_id: '100' });
    expect(await gate()).toEqual([200, 2, 2, []]);
    const again = await begin({ node_build_id: '101' });
    expect(again.json.test_files.map(({ path }: { path: string }) => path).sort()).toEqual([LONG, named]);
    // A client of Knapsack Pro gets its files, and the gate tells how the lists differ.
    await begin({ node_index: 1, fixed_queue_split: false }, [LONG]);
    const { json } = await getCompleteness(server, { ...build, node_build_id: '100' });
    expect(json.errors[0]).toContain(JSON.stringify(named));
  });

  it('that failed is run again as it is listed', async () => {
    const server = await startServer();
    const { json } = await pull(server, 0, { ...first, pieces: undefined, paths: [named] });
    await pull(server, 0, { batch_index: 1, batch_id: json.batch_id, failed_paths: [named] });
    await record(server, { ...build, node_index: 0, test_files: [] });
    expect((await server.get('/v2/test_paths?branch=main')).json.failed_paths).toEqual([named]);
  });
});

it('the cases of a file with the name of a piece are no cases of a piece', async () => {
  const server = await learned();
  const paths = ['1 of 1', '0 of 2', '3 of 2', '1 of 99999999999'].map(number => `${LONG}::piece ${number}`);
  await tell(
    server,
    paths.map(path => ({ path, seconds: 999, cases: [report('a'), report('b')], passed_whole: ['a'] })),
  );
  expect((await takeAll(server)).pieces.flatMap(({ cases }) => cases).toSorted()).toEqual(CASES.toSorted());
});

describe('a long file is whole', () => {
  it.each<[string, object, object[] | undefined, object]>([
    ['for a client that runs no pieces, which is reported what they would save', {}, undefined, { pieces: undefined }],
    ['for a client with another runner', {}, undefined, { pieces: 'rspec' }],
    ['if the names of its cases are from reports', { runner: undefined }, undefined, {}],
    ['if it has one case', {}, [report('a')], {}],
    ['if all of its cases but one were skipped', {}, [report('a'), { ...report('b'), outcome: 'skipped' }], {}],
  ])('%s', async (_, more, cases, asked) => {
    const server = await learned(cases, more);
    const { json } = await pull(server, 0, { ...first, ...asked });
    expect(json.pieces).toBeUndefined();
    expect(json.paths).toContain(LONG);
    if ('pieces' in asked && asked.pieces === undefined) expect(json.forecast.cutting).toMatchObject({ files: 1, is_done: false });
    else expect(json.forecast.cutting).toBeUndefined();
  });

  it('after its pieces differed from it, for as long as that is known', async () => {
    const server = await learned();
    const { pieces } = await takeAll(server);
    const [piece] = pieces as [Handed];
    await tell(server, [{ path: piece.path, is_piece: true, seconds: 30, cases: piece.cases.map(report), passed_whole: [piece.cases[0]] }]);
    expect((await takeAll(server, { test_queue_id: '101' })).paths).toContain(LONG);
  });
});

it('names of reports do not take the place of names by which the test runner selects cases', async () => {
  const server = await learned();
  const reported = { ...build, node_index: 0, ci_build_id: '2', files: [{ path: LONG, seconds: 120, cases: [report('a'), report('b')] }] };
  expect((await server.post('/v2/test_cases', reported)).status).toBe(200);
  expect((await takeAll(server)).pieces.flatMap(({ cases }) => cases).toSorted()).toEqual(CASES.toSorted());
});

it('a file is on trial until all of its pieces passed, and again after one failed', async () => {
  const server = await learned();
  const trials = async (run: string, outcome: (name: string) => string) => {
    const { pieces } = await takeAll(server, { test_queue_id: run });
    const files = pieces.map(({ path, cases }) => ({
      path,
      is_piece: true,
      seconds: 10 * cases.length,
      cases: cases.map(name => ({ name, seconds: 10, outcome: outcome(name) })),
    }));
    await tell(server, files, { ci_build_id: run });
    return new Set(pieces.map(({ is_trial }) => is_trial));
  };
  expect(await trials('1', () => 'passed')).toEqual(new Set([true]));
  expect(await trials('2', name => (name === CASES[3] ? 'failed' : 'passed'))).toEqual(new Set([false]));
  expect(await trials('3', () => 'passed')).toEqual(new Set([true]));
});

describe('what a build with pieces tells', () => {
  it('has the times of the pieces as the time of the file in trends, and no pieces as files', async () => {
    const server = await learned();
    const { pieces } = await takeAll(server);
    await server.service.summarize();
    const { files } = (await server.get('/v1/trends/files?branch=main')).json;
    expect(sortPaths(files.map(({ path }: Handed) => path))).toEqual(sortPaths(SUITE));
    // The node recorded one second for each path.
    expect(files.find(({ path }: Handed) => path === LONG).last).toBe(pieces.length);
    const history = (await server.get(`/v1/trends/files/history?branch=main&path=${encodeURIComponent(LONG)}`)).json;
    expect(history.points.map(({ seconds }: { seconds: number }) => seconds)).toEqual([pieces.length]);
    expect(history.pieces).toEqual({ cases: CASES.length, runner: 'pytest', count: null, is_proven: false, not_cut: null });
  });

  it('says for a build without pieces what they would have saved, and no more than a plan could', async () => {
    const clock = new Clock();
    const server = await learned(undefined, undefined, clock.now);
    const whole = { ...first, pieces: undefined };
    const recordTimes = (node_index: number, paths: string[], seconds: number) =>
      record(server, {
        ...build,
        node_index,
        ci_build_id: '100',
        test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, seconds]))),
      });
    const { json: long } = await pull(server, 0, whole);
    expect(long.paths).toEqual([LONG]);
    // The other nodes run for 10 s, and one more for 80 s.
    const own: string[][] = [];
    for (const node_index of [1, 2, 3]) own[node_index] = (await pull(server, node_index, whole)).json.paths;
    clock.advance({ seconds: 10 });
    for (const node_index of [1, 2, 3]) {
      for (let batch_index = 1; ; batch_index++) {
        const { paths } = (await pull(server, node_index, { batch_index })).json;
        if (paths.length === 0) break;
        own[node_index]!.push(...paths);
      }
      await recordTimes(node_index, own[node_index]!, 10 / own[node_index]!.length);
    }
    clock.advance({ seconds: 80 });
    await pull(server, 0, { batch_index: 1 });
    await recordTimes(0, [LONG], 90);
    await server.service.summarize();
    const [line] = (await server.get('/v1/build_summaries')).json.builds;
    const { verdict } = (await server.get(`/v1/builds/${line.build_id}/minutes`)).json;
    // An even share is 30 s.
    expect(verdict).toContain('Running 1 long file in pieces would have saved about 60 s: add --pieces to ballast queue.');
  });

  it('explains why a node got a piece', async () => {
    const server = await learned();
    const { pieces } = await takeAll(server);
    await server.service.summarize();
    const [build] = (await server.get('/v1/build_summaries')).json.builds;
    const text = JSON.stringify((await server.get(`/v1/builds/${build.build_id}/why`)).json);
    expect(text).toContain(`piece 1 of ${pieces.length} of ${LONG}`);
    expect(text).toContain('more than half of an even share of the work');
  });
});

describe('cases are refused', () => {
  const valid = { path: LONG, seconds: 1, cases: [report('a')] };
  it.each([
    ['without a file', [{ ...valid, path: undefined }]],
    ['that are a number', 5],
    ['that are no object', [null]],
    ['that are text', ['x']],
    ['without anything', [{}]],
    ['without a name', [{ ...valid, cases: [{ ...report('a'), name: undefined }] }]],
    ['that are null', [{ ...valid, cases: [null] }]],
    ['of too many files', Array.from({ length: 101 }, () => valid)],
    ['with too many names that passed in the whole', [{ ...valid, passed_whole: Array.from({ length: 21 }, String) }]],
    ['with a time below 0', [{ ...valid, seconds: -1 }]],
    ['without an outcome', [{ ...valid, cases: [{ ...report('a'), outcome: undefined }] }]],
    ['with an outcome that is none', [{ ...valid, cases: [{ ...report('a'), outcome: 'xfail' }] }]],
    ['with an empty name', [{ ...valid, cases: [report('')] }]],
    ['of a piece without the path of one', [{ ...valid, is_piece: true }]],
    ['of a piece without a runner', [{ ...valid, path: `${LONG}::piece 1 of 2`, is_piece: true }]],
    ['that stand for none', [{ ...valid, cases: [{ ...report('a'), count: 0 }] }]],
    ['that stand for a part of one', [{ ...valid, cases: [{ ...report('a'), count: 1.5 }] }]],
    ['that stand for more than any report has', [{ ...valid, cases: [{ ...report('a'), count: 1e9 + 1 }] }]],
    ['that are too many', [{ ...valid, cases: Array.from({ length: 5001 }, (_, i) => report(`${i}`)) }]],
    ['with too many characters', [{ ...valid, cases: Array.from({ length: 40 }, (_, i) => report(`${i}`.repeat(2000))) }]],
  ])('%s', async (_, files) => {
    const server = await startServer();
    const reply = await server.post('/v2/test_cases', { ...build, node_index: 0, files });
    expect(reply.status).toBe(422);
    expect(Object.keys(reply.json.errors[0])).toEqual(['files']);
  });
});
