import { describe, expect } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import type { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { expectCompleteness, getCompleteness, nothingMissing, recordPaths } from '../../harness/completeness.js';
import {
  buildKey,
  initialise,
  manyPaths,
  pathsIn,
  pull,
  pullAll,
  readSplit,
  record,
  sortPaths,
  startSplit,
  subsetMessage,
  testFiles,
  timedTestFiles,
} from '../../harness/messages.js';
import { problemsIn } from '../../harness/problems.js';
import { SharedServer, startServer, startServerOnDisk, testsWith } from '../../harness/server.js';

const clock = new Clock();
const it = testsWith(new SharedServer({}, { now: clock.now }));

const COMPLETE = { ...nothingMissing, is_complete: true };

/** Hands 9 test files out to two nodes of a CI run, which are all that its queue or split has. */
async function handOut(server: Client, kind: 'queue' | 'split', id: string): Promise<[string[], string[]]> {
  const paths = manyPaths(9);
  const run = { ci_build_id: id, node_build_id: id };
  if (kind === 'split') return [pathsIn(await startSplit(server, paths, run)), pathsIn(await readSplit(server, { ...run, node_index: 1 }))];
  return [pathsIn(await initialise(server, paths, run)), await pullAll(server, { ...run, node_index: 1 })];
}

describe('GET /builds/completeness', () => {
  it('is 409 for a queue until every file is handed out and recorded, then 200', async ({ server }) => {
    const paths = manyPaths(40);
    const queue = { ...buildKey, node_build_id: '7' };
    const ask = () => getCompleteness(server, { node_build_id: '7' });
    const first = pathsIn(await initialise(server, paths, queue));
    const rest = paths.filter(path => !first.includes(path));
    expect(first.length).toBeGreaterThan(0);
    expect(rest.length).toBeGreaterThan(0);

    const begun = await ask();
    expect(begun).toMatchObject({
      status: 409,
      json: {
        is_complete: false,
        kind: 'queue',
        test_files: 40,
        recorded: 0,
        errors: [
          `${first.length} of 40 test files were handed out and not recorded, to node 0: a node or its test runner may have died; retry these nodes`,
          `${rest.length} of 40 test files were never handed out: no node pulled until the queue was empty; retry a node`,
        ],
        // At most two nodes come, so none is missing.
        warnings: [],
        nodes_came: [0],
        nodes_never_came: [1],
      },
    });
    expect(begun.json.never_handed_out).toEqual(expect.arrayContaining(testFiles(rest)));
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
    expect(begun.json.handed_out_not_recorded).toEqual(
      expect.arrayContaining(first.map(path => ({ path, node_index: 0, handed_out_at: at }))),
    );

    const second = await pullAll(server, { ...queue, node_index: 1 });
    await recordPaths(server, 1, second);
    // Node 0 died with its batch.
    expect(await ask()).toMatchObject({ status: 409, json: { recorded: second.length, never_handed_out: [], nodes_came: [0, 1] } });
    await recordPaths(server, 0, first);
    expect(await ask()).toMatchObject({ status: 200, json: { ...COMPLETE, kind: 'queue', test_files: 40, recorded: 40 } });
    // Without an id: the newest.
    await expectCompleteness(server, {}, 200, { kind: 'queue' });
    await expectCompleteness(server, { node_build_id: '', ci_build_id: '' }, 200);
  });

  it('says what it is about, also when requests share the comparison', async ({ server }) => {
    await initialise(server, ['a_spec.rb'], { ...buildKey, node_build_id: '7' });
    const asked = [
      { node_build_id: '7', request_id: 'one' },
      { test_queue_id: '7', request_id: 'two' },
      { ci_build_id: '7', allow_empty: 'true' },
      {},
    ];
    const answers = await Promise.all(asked.map(more => getCompleteness(server, more)));
    const about = {
      ...buildKey,
      project: expect.any(String) as string,
      node_build_id: null,
      ci_build_id: null,
      allow_empty: false,
      request_id: null,
    };
    expect(answers.map(({ json }) => json.about)).toEqual([
      { ...about, node_build_id: '7', request_id: 'one' },
      { ...about, node_build_id: '7', request_id: 'two' },
      { ...about, ci_build_id: '7', allow_empty: true },
      about,
    ]);
  });

  it('is 409 while files were recorded with a time of 0 only, unless they ran or may be empty', async ({ server }) => {
    const paths = manyPaths(25);
    const build = { ...buildKey, node_total: 1 };
    await initialise(server, paths, { ...build, node_build_id: '7' });
    const nothing = Object.fromEntries(paths.map(path => [path, 0]));
    await record(server, { ...build, test_files: timedTestFiles(nothing) });
    const query = { node_total: 1, node_build_id: '7' };
    await expectCompleteness(server, query, 409, {
      recorded: 0,
      may_be_empty: true,
      errors: [expect.stringMatching(/^25 of 25 test files were recorded with a time of 0 only, by node 0: /)],
      recorded_without_time: expect.arrayContaining(paths.map(path => ({ path, node_index: 0 }))),
    });
    const warnings = ['25 test files were recorded with a time of 0: scheduled, and perhaps not run'];
    await expectCompleteness(server, { ...query, allow_empty: 'true' }, 200, { recorded: 25, errors: [], warnings });
    await record(server, { ...build, test_files: timedTestFiles(nothing).map((file, i) => (i === 0 ? file : { ...file, ran: true })) });
    await expectCompleteness(server, query, 409, { recorded: 24, recorded_without_time: [{ path: paths[0] }] });
    await record(server, { ...build, test_files: timedTestFiles({ [paths[0]!]: 2 }) });
    await expectCompleteness(server, query, 200, { ...COMPLETE, nodes_came: [0], test_files: 25, recorded: 25 });
  });

  it('is 409 while no test ran in any file, whatever may be empty', async ({ server }) => {
    const [first, second] = await handOut(server, 'queue', '8');
    const empty = (paths: readonly string[]) => paths.map(path => ({ path, time_execution: 0, ran: true, no_test: true }));
    const query = { node_build_id: '8' };
    for (const [node_index, paths] of [first, second].entries())
      await record(server, { ...buildKey, node_index, test_files: empty(paths) });
    const incomplete = {
      recorded: 9,
      no_test_ran: true,
      may_be_empty: false,
      errors: [expect.stringMatching(/^no test ran in any recorded test file, /)],
    };
    await expectCompleteness(server, query, 409, incomplete);
    await expectCompleteness(server, { ...query, allow_empty: 'true' }, 409, incomplete);
    // A package of Go that came from the cache passed, and took no time.
    const cached = { path: first[0], time_execution: 0, ran: true };
    await record(server, { ...buildKey, node_index: 0, test_files: [cached, ...empty(first.slice(1))] });
    await expectCompleteness(server, query, 200, { ...COMPLETE, no_test_ran: false });
  });

  it('is 409 for a split until every node has recorded its files', async ({ server }) => {
    const nodes = await handOut(server, 'split', '100');
    await recordPaths(server, 0, nodes[0]);
    await expectCompleteness(server, { ci_build_id: '100' }, 409, {
      kind: 'split',
      test_files: 9,
      recorded: nodes[0].length,
      handed_out_not_recorded: nodes[1].map(path => ({ path, node_index: 1, handed_out_at: null })),
      nodes_never_came: [1],
    });
    await recordPaths(server, 1, nodes[1]);
    for (const more of [{}, { ci_build_id: '100' }]) {
      await expectCompleteness(server, more, 200, { ...COMPLETE, kind: 'split', recorded: 9 });
    }
  });

  it.for(['queue', 'split'] as const)(
    'ignores what an earlier CI run recorded for its %s while the clock was ahead',
    async (kind, { server }) => {
      const ask = async (id: string) =>
        (await getCompleteness(server, { [kind === 'queue' ? 'node_build_id' : 'ci_build_id']: id })).status;
      clock.advance({ seconds: 3600 });
      const first = await handOut(server, kind, '1');
      for (const node of [0, 1]) await recordPaths(server, node, first[node]!);
      expect(await ask('1')).toBe(200);
      clock.advance({ seconds: -3600 });
      const second = await handOut(server, kind, '2');
      await recordPaths(server, 0, second[0]);
      // Its node 1 died.
      expect(await ask('2')).toBe(409);
      await recordPaths(server, 1, second[1]);
      expect(await ask('2')).toBe(200);
    },
  );

  it('ignores what nodes recorded for another CI run at the same time, if they name it', async ({ server }) => {
    const paths = manyPaths(4);
    const ids = ['one', 'two'];
    for (const node_build_id of ids) {
      await initialise(server, paths, { node_build_id, skip_pull: true });
      expect(await pullAll(server, { node_build_id })).toHaveLength(4);
    }
    const statuses = () => Promise.all(ids.map(async node_build_id => (await getCompleteness(server, { node_build_id })).status));
    await recordPaths(server, 0, paths, { ci_build_id: 'one' });
    expect(await statuses()).toEqual([200, 409]);
    // A run that names no CI run may belong to any.
    await recordPaths(server, 0, paths);
    expect(await statuses()).toEqual([200, 200]);
  });

  it.for(['queue', 'split', 'split of a CI run'] as const)(
    'stays 409 for a %s if a node sent another list, because files of one list never run',
    async (kind, { server }) => {
      const [one, two] = [['a_spec.rb', 'b_spec.rb'], ['x.test.js']];
      const start = (paths: string[]) =>
        kind === 'queue'
          ? initialise(server, paths)
          : startSplit(server, paths, { ...buildKey, fixed_test_suite_split: kind === 'split', ci_build_id: '100' });
      expect((await start(one)).status).toBe(200);
      if (kind === 'queue') await pullAll(server);
      // The protocol hands the node files of the other list.
      expect((await start(two)).status).toBe(200);
      await recordPaths(server, 0, one);
      await expectCompleteness(server, kind === 'queue' ? { node_build_id: '100' } : { ci_build_id: '100' }, 409, {
        recorded: 2,
        errors: [
          expect.stringMatching(
            /made of 2 test files, and this node lists 1: "a_spec\.rb", "b_spec\.rb" only in the .*, "x\.test\.js" only on this node/,
          ),
        ],
      });
      if (kind !== 'split') return;
      // A later CI run of the commit with the first list.
      expect((await startSplit(server, one, { ...buildKey, ci_build_id: '101' })).status).toBe(200);
      await recordPaths(server, 0, one);
      await expectCompleteness(server, { ci_build_id: '101' }, 200);
    },
  );

  it('compares with the split of the CI run when each has its own', async ({ server }) => {
    for (const ci_build_id of ['1', '2']) {
      await startSplit(server, [`${ci_build_id}_spec.rb`], { ...buildKey, fixed_test_suite_split: false, ci_build_id });
    }
    await recordPaths(server, 0, ['1_spec.rb']);
    await expectCompleteness(server, { ci_build_id: '1' }, 200);
    await expectCompleteness(server, { ci_build_id: '2' }, 409, {
      handed_out_not_recorded: [{ path: '2_spec.rb', node_index: 0, handed_out_at: null }],
    });
  });

  it('warns of a node in fallback and of files that ran twice', async ({ server }) => {
    const first = pathsIn(await initialise(server, manyPaths(20)));
    const rest = await pullAll(server);
    await recordPaths(server, 0, [...first, ...rest]);
    await recordPaths(server, 1, [rest[0]!, 'unheard_of_spec.rb']);
    await expectCompleteness(server, {}, 200, {
      is_complete: true,
      errors: [],
      warnings: [
        '2 test files were recorded by a node that did not get them, perhaps in fallback: node 1',
        '1 test file was recorded by several nodes',
      ],
      recorded_twice: [{ path: rest[0], node_indexes: [0, 1] }],
      recorded_not_handed_out: [
        { path: rest[0], node_index: 1 },
        { path: 'unheard_of_spec.rb', node_index: 1 },
      ],
    });
  });

  it.each(['queue', 'split'] as const)('counts only the recordings of a CI run that repeats a %s', async kind => {
    const server = await startServerOnDisk({}, clock.now);
    const queryOf = (id: string) => ({ [kind === 'queue' ? 'node_build_id' : 'ci_build_id']: id });
    const nodes = await handOut(server, kind, 'one');
    for (const node of [0, 1]) await recordPaths(server, node, nodes[node]!);
    await expectCompleteness(server, queryOf('one'), 200);
    clock.advance({ seconds: 60 });
    // Node 1 of the queue does not come before it is asked about.
    const again =
      kind === 'queue'
        ? [await initialise(server, manyPaths(9), { node_build_id: 'two', fixed_queue_split: true })]
        : [await readSplit(server, { ci_build_id: 'two' }), await readSplit(server, { ci_build_id: 'two', node_index: 1 })];
    for (const [node, reply] of again.entries()) expect(sortPaths(pathsIn(reply))).toEqual(sortPaths(nodes[node]!));
    await expectCompleteness(server, queryOf('two'), 409, { recorded: 0, never_handed_out: [] });
    if (kind === 'queue') expect((await getCompleteness(server)).json.recorded).toBe(0);
    await recordPaths(server, 0, nodes[0]);
    const { status, json } = await getCompleteness(server, queryOf('two'));
    expect([status, json]).toMatchObject([409, { recorded: nodes[0].length, never_handed_out: [], nodes_never_came: [1] }]);
    expect(json.errors).toEqual([
      expect.stringContaining(`${nodes[1].length} of 9 test files were handed out and not recorded, to node 1: `),
    ]);
    const missing = nodes[1].map(path => ({ path, node_index: 1, handed_out_at: null }));
    expect(json.handed_out_not_recorded).toHaveLength(missing.length);
    expect(json.handed_out_not_recorded).toEqual(expect.arrayContaining(missing));
    await recordPaths(server, 1, nodes[1]);
    await expectCompleteness(server, queryOf('two'), 200, { recorded: 9 });
    await expectCompleteness(server, queryOf('one'), 200);
    await expectCompleteness(server, queryOf('third'), 409, { kind: null });
    await server.close();
    expect(await problemsIn(server.dataDir)).toEqual([]);
  });

  it('lists the files that were reassigned from a silent node', async () => {
    const server = await startServerOnDisk({ leaseFactor: '3', leaseGraceSeconds: '60' }, clock.now, clock.now);
    const queue = { ...buildKey, node_build_id: '7' };
    const lost = pathsIn(await initialise(server, manyPaths(30), queue));
    const first = pathsIn(await pull(server, { ...queue, node_index: 1 }));
    clock.advance({ seconds: 3600 });
    const rest = await pullAll(server, { ...queue, node_index: 1 });
    expect([...first, ...rest].sort()).toEqual(manyPaths(30));
    expect(
      server.log.filter(line => line.includes('lease expired; batch returned to the queue')).map(line => JSON.parse(line) as object),
    ).toEqual([expect.objectContaining({ node: 0, batch: 0, files: lost.length })]);
    await recordPaths(server, 1, [...first, ...rest]);
    const reply = await getCompleteness(server, { node_build_id: '7' });
    expect(reply).toMatchObject({
      status: 200,
      json: {
        errors: [],
        warnings: [
          `${lost.length} test files were handed to another node, because the first one was silent, cancelled or restarted: node 0`,
        ],
      },
    });
    expect(reply.json.handed_on).toEqual(lost.map(path => ({ path, node_index: 0 })));
    await server.close();
    expect(await problemsIn(server.dataDir)).toEqual([]);
  });

  it('has the state at the end of the wait', async ({ server }) => {
    const waiting = getCompleteness(server, { wait: 1 });
    const first = pathsIn(await initialise(server, manyPaths(5)));
    expect(await waiting).toMatchObject({ status: 409, json: { kind: 'queue', handed_out_not_recorded: expect.any(Array) as unknown } });
    expect((await getCompleteness(server)).json.handed_out_not_recorded).toHaveLength(first.length);
  });

  it.for([
    ['records an empty run', true],
    ['records nothing', false],
  ] as const)(
    'is 409 for a node that is retried, gets no files and %s, until it runs its files again',
    async ([_, records], { server }) => {
      const node = { ...buildKey, node_total: 1, node_build_id: '7' };
      const query = { node_total: 1, node_build_id: '7' };
      await recordPaths(server, 0, pathsIn(await initialise(server, ['a_spec.rb'], node)), node);
      await expectCompleteness(server, query, 200);
      expect(pathsIn(await initialise(server, ['a_spec.rb'], node))).toEqual([]);
      if (records) await recordPaths(server, 0, [], node);
      await expectCompleteness(server, query, 409, {
        recorded: 1,
        errors: [expect.stringMatching(/^node 0 ran nothing when run again, /)],
      });
      const again = pathsIn(await initialise(server, ['a_spec.rb'], { ...node, fixed_queue_split: true }));
      await expectCompleteness(server, query, 409, {
        recorded: 1,
        errors: expect.arrayContaining([expect.stringMatching(/^node 0 restarted and recorded nothing since/)]),
      });
      await recordPaths(server, 0, again, node);
      await expectCompleteness(server, query, 200);
    },
  );

  it('names a node whose runs are no longer stored', { timeout: 60_000 }, async ({ server }) => {
    const one = { ...buildKey, node_total: 1 };
    await Promise.all(Array.from({ length: limits.runsPerNode }, () => recordPaths(server, 0, ['a_spec.rb'], one)));
    await initialise(server, ['a_spec.rb'], { ...one, node_build_id: '7' });
    expect((await server.post('/v1/build_subsets', subsetMessage(one))).status).toBe(202);
    await expectCompleteness(server, { node_total: 1, node_build_id: '7' }, 409, {
      errors: ['node 0 recorded more than 100 retries of this build: later runs are not stored; run another commit'],
    });
  });

  it('is 503 for a waiting request when the server stops', async () => {
    const server = await startServer();
    await startSplit(server, ['a_spec.rb']);
    const waiting = getCompleteness(server, { wait: 900 });
    // By then the server has the waiting request.
    await server.get('/healthz');
    await server.close();
    expect(await waiting).toMatchObject({ status: 503, json: { errors: ['the server is shutting down; try again'] } });
  });

  it('is 409 without a split or queue, and lists what to compare', async ({ server }) => {
    await expectCompleteness(server, {}, 409, {
      is_complete: false,
      kind: null,
      test_files: 0,
      errors: [expect.stringMatching(/^no split or queue of this build is known, and no node recorded a run: compare /)],
    });
    await recordPaths(server, 0, ['a_spec.rb']);
    expect((await getCompleteness(server)).json.errors[0]).toMatch(/, and 1 run was recorded, by nodes in fallback /);
    await expectCompleteness(server, { node_build_id: 'another' }, 409);
  });

  it('names the files whose last failure is muted, also if a node told of it without the id of the CI run', async ({ server }) => {
    const [own, others] = await handOut(server, 'queue', '7');
    const [path, other] = [own[0]!, others[0]!];
    const query = { node_build_id: '7' };
    const tell = (node_index: number, paths: readonly string[], outcome?: string, ci_build_id = '7') => {
      const test_files = timedTestFiles(Object.fromEntries(paths.map(each => [each, 1]))).map(file => ({
        ...file,
        ...(outcome && { outcome }),
      }));
      return record(server, { ...buildKey, node_index, ci_build_id, tells_outcomes: true, test_files });
    };
    await tell(1, others);
    await tell(0, own);
    await tell(0, [path], 'muted', '');
    await tell(0, [other], 'muted');
    const muted = (paths: readonly string[]) => ({
      is_complete: true,
      muted: paths.map(each => ({ path: each, node_index: 0 })),
      muted_count: paths.length,
    });
    await expectCompleteness(server, query, 200, muted([path, other]));
    await expectCompleteness(server, {}, 200, muted([path, other]));
    // A client that names no CI run, or tells no outcomes, shows nothing.
    await tell(1, [path], 'passed', '');
    await record(server, { ...buildKey, node_index: 1, ci_build_id: '7', test_files: timedTestFiles({ [other]: 1 }) });
    await expectCompleteness(server, query, 200, muted([path, other]));
    await tell(1, [path], 'passed');
    await expectCompleteness(server, query, 200, muted([other]));
    await tell(1, [other], 'failed');
    const { json } = await getCompleteness(server, query);
    expect([json.is_complete, json.muted]).toEqual([true, undefined]);
    // A mute excuses no failure of another node.
    await tell(0, [other], 'muted');
    expect((await getCompleteness(server, query)).json.muted).toBeUndefined();
    await tell(1, [other], 'muted');
    expect((await getCompleteness(server, query)).json.muted).toMatchObject([{ path: other }]);
  });

  it('refuses invalid parameters', async ({ server }) => {
    await expectCompleteness(server, { node_total: '', wait: 901, node_build_id: '1', ci_build_id: '1' }, 422, {
      errors: [
        {
          node_total: expect.anything() as unknown,
          wait: ['must be less than or equal to 900'],
          ci_build_id: ['must not be sent together with node_build_id'],
        },
      ],
    });
    expect((await server.post('/v1/builds/completeness', {})).status).toBe(405);
  });

  it('lists the first thousand missing files, and counts all', async ({ server }) => {
    await startSplit(server, manyPaths(1200));
    const { status, json } = await getCompleteness(server);
    expect([status, json.test_files, json.handed_out_not_recorded.length]).toEqual([409, 1200, 1000]);
    expect(json.errors[0]).toMatch(/^1200 of 1200 test files were handed out and not recorded, to nodes 0, 1: /);
  });
});
