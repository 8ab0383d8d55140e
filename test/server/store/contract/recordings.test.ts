import { describe, expect, it } from 'vitest';
import { toSegments } from '../../../../src/base/bytes.js';
import { limits } from '../../../../src/protocol/limits.js';
import { shortDigest } from '../../../../src/server/engine/keys.js';
import { newRun, RETRY_WINDOW_MILLISECONDS } from '../../../../src/server/engine/recordings.js';
import { outcomeOf, type RecordedTestFile } from '../../../../src/server/engine/test-file.js';
import { waitingCaller, whenSaved } from '../../../testbed/waiting.js';
import { BUILD, buildsOf, DAY, files, HOUR, NOW, type Recording, record, secondsOf, sweep } from './fixtures.js';
import { stores } from './stores.js';

describe.each(stores)('recordings in a store in $name', ({ opened: openStore }) => {
  async function opened() {
    const { store, project } = await openStore();
    const send = (recording: Recording = {}, times = files(1)) => record(store, project, times, recording);
    const build = async () => (await buildsOf(store, project))[0]!;
    return { store, project, send, build };
  }

  it('make one build of all nodes that record concurrently', async () => {
    const { store, project, send } = await opened();
    const nodes = Array.from({ length: 40 }, (_, i) => i);
    const recorded = await Promise.all(nodes.map(node_index => send({ node_total: 40, node_index, at: NOW + node_index })));
    expect(new Set(recorded)).toEqual(new Set(['recorded']));
    const builds = await buildsOf(store, project);
    expect(builds).toHaveLength(1);
    expect(builds[0]).toMatchObject({ ...BUILD, node_total: 40, created_at: NOW, updated_at: NOW + 39 });
    expect(builds[0]).toMatchObject({ recorded: 40, subsets: 40, test_files: 40 });
    expect((await store.builds.runs(builds[0]!.number)).map(run => run.node_index)).toEqual(nodes);
    await store.maintenance.publish('timings');
    expect(await store.timings.all(0, 10)).toHaveLength(1);
  });

  it('keep the files, times and CI run of each run', async () => {
    const { store, project, build } = await opened();
    const times = { 'a_spec.rb': 1.5, 'größe_測試.rb': 0, '\u0000x': 3 };
    await record(store, project, times, { ci_build_id: '7' });
    await record(store, project, {}, { node_index: 1, at: NOW + 1 });
    const { number } = await build();
    const [first, empty] = await store.builds.runs(number);
    expect(first).toMatchObject({ node_index: 0, run: 1, created_at: NOW, ci_run: shortDigest('7'), test_files: 3 });
    expect(await store.builds.run(number, first!)).toEqual({
      ...first,
      paths: Object.keys(times),
      seconds: Float64Array.from(Object.values(times)),
      outcomes: new Uint8Array(3),
    });
    expect(empty).toMatchObject({ node_index: 1, run: 1, created_at: NOW + 1, ci_run: 0, test_files: 0 });
    expect(await store.builds.run(number, empty!)).toEqual({
      ...empty,
      paths: [],
      seconds: new Float64Array(),
      outcomes: new Uint8Array(),
    });
  });

  it('keep the outcome of each file that its client tells', async () => {
    const { store, project, build } = await opened();
    const files: RecordedTestFile[] = [
      { path: 'a_spec.rb', time_execution: 1 },
      { path: 'b_spec.rb', time_execution: 2, outcome: 'failed' },
      { path: 'c_spec.rb', time_execution: 3, outcome: 'flaky' },
      { path: 'd_spec.rb', time_execution: 0, outcome: 'skipped' },
      { path: 'e_spec.rb', time_execution: 0, ran: true, outcome: 'muted' },
    ];
    for (const tellsOutcomes of [true, false]) {
      const run = newRun(files, '7', tellsOutcomes);
      await whenSaved(store.recordings.record(project, { ...BUILD, node_index: 0 }, run, waitingCaller, NOW));
    }
    const { number } = await build();
    const outcomes = await Promise.all(
      [1, 2].map(async run => Array.from((await store.builds.run(number, { node_index: 0, run }))!.outcomes, outcomeOf)),
    );
    expect(outcomes).toEqual([
      ['passed', 'failed', 'flaky', 'skipped', 'muted'],
      [null, 'failed', 'flaky', 'skipped', 'muted'],
    ]);
    expect(Array.from((await store.builds.run(number, { node_index: 0, run: 1 }, 1, 3))!.outcomes, outcomeOf)).toEqual(['failed', 'flaky']);
  });

  it('accept paths as segments, which worker threads send', async () => {
    const { store, project, build } = await opened();
    const run = newRun([
      { path: 'a_spec.rb', time_execution: 1 },
      { path: 'größe.rb', time_execution: 2 },
    ]);
    const segments = { ...run, paths: toSegments(run.paths as string[]) };
    await whenSaved(store.recordings.record(project, { ...BUILD, node_index: 0 }, segments, waitingCaller, NOW));
    const { number } = await build();
    expect(await store.builds.run(number, { node_index: 0, run: 1 })).toMatchObject({
      paths: run.paths,
      seconds: Float64Array.from(run.seconds),
    });
    expect(await secondsOf(store, project, ['größe.rb', 'a_spec.rb'])).toEqual([2, 1]);
  });

  it('recognise a repeated request, but not another run with the same files', async () => {
    const { send, build } = await opened();
    const recorded = [
      await send({ isRetry: true }, files(3)),
      await send({ isRetry: true }, files(3)),
      await send({ isRetry: true, ci_build_id: '7' }, files(3)),
      await send({ isRetry: false, ci_build_id: '7' }, files(3)),
      await send({ isRetry: true, ci_build_id: '7' }, files(4)),
      await send({ isRetry: true, ci_build_id: '7' }, files(3)),
    ];
    expect(recorded).toEqual(['recorded', 'already recorded', 'recorded', 'recorded', 'recorded', 'recorded']);
    expect(await build()).toMatchObject({ recorded: 5, subsets: 5, test_files: 16 });
  });

  it('recognise a repeated request for some minutes', async () => {
    const { send } = await opened();
    const times = [0, RETRY_WINDOW_MILLISECONDS - 1, RETRY_WINDOW_MILLISECONDS];
    const recorded: string[] = [];
    for (const after of times) recorded.push(await send({ isRetry: true, at: NOW + after }));
    expect(recorded).toEqual(['recorded', 'already recorded', 'recorded']);
  });

  it('refuse more runs of a node than are kept, without any change', async () => {
    const { store, project, send, build } = await opened();
    const runs = Array.from({ length: limits.runsPerNode + 3 }, (_, i) => i);
    const recorded = await Promise.all(runs.map(i => send({ at: NOW + i }, { 'a_spec.rb': i < limits.runsPerNode ? 2 : 1000 })));
    expect(recorded.map(one => one === 'recorded')).toEqual(runs.map(i => i < limits.runsPerNode));
    expect(recorded.at(-1)).toBe('retried too often');
    expect(await build()).toMatchObject({ subsets: limits.runsPerNode, updated_at: NOW + limits.runsPerNode - 1 });
    expect(await secondsOf(store, project, ['a_spec.rb'])).toEqual([2]);
    expect(await send({ node_index: 1 })).toBe('recorded');
  });

  it('accept runs of a node again after old ones expire', async () => {
    const { store, send } = await opened();
    await Promise.all(Array.from({ length: limits.runsPerNode }, (_, i) => send({ at: NOW + i })));
    await sweep(store, NOW + 2);
    const later = NOW + 2 * HOUR;
    expect([await send({ at: later }), await send({ at: later }), await send({ at: later })]).toEqual([
      'recorded',
      'recorded',
      'retried too often',
    ]);
  });

  it('number the runs of a build in the order of recording, also when the clock is set back', async () => {
    const { store, send, build } = await opened();
    for (const [node_index, at] of [
      [0, NOW],
      [1, NOW + 20],
      [0, NOW - 10],
    ] as const)
      await send({ node_index, at }, { 'a_spec.rb': 30 + at - NOW });
    const { number, ...known } = await build();
    expect(known).toMatchObject({ created_at: NOW, updated_at: NOW + 20, recorded: 3 });
    const runs = await store.builds.runs(number);
    expect(runs.map(({ node_index, run, ordinal, created_at }) => [node_index, run, ordinal, created_at - NOW])).toEqual([
      [0, 1, 1, 0],
      [0, 2, 3, -10],
      [1, 1, 2, 20],
    ]);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(3);
  });

  it('never repeat an ordinal, even if all runs of the build expire', async () => {
    const { store, project, send, build } = await opened();
    let last = 0;
    for (let day = 0; day < 3; day++) {
      const at = NOW + day * DAY;
      for (const node_index of [0, 1]) await send({ node_index, at });
      const { number, recorded } = await build();
      const ordinals = (await store.builds.runs(number)).map(({ ordinal }) => ordinal);
      expect(ordinals).toEqual([last + 1, last + 2]);
      expect(recorded).toBe((last = ordinals[1]!));
      await sweep(store, at + 1);
      expect(await buildsOf(store, project)).toEqual([]);
    }
  });

  it.each([
    ['the only one', ['feature'], 'feature'],
    ['with a well-known name, even if others have more builds', ['feature', 'feature', 'main'], 'main'],
    ['with the most builds among those with well-known names', ['main', 'develop', 'develop'], 'develop'],
    ['with the most builds when no name is well-known', ['a', 'b', 'c', 'b'], 'b'],
    ['that came first of those with as many builds', ['a', 'b'], 'a'],
  ])('set the default branch to the branch %s', async (_which, branches, expected) => {
    const { store, send } = await opened();
    for (const [i, branch] of branches.entries()) await send({ branch, commit_hash: `c${i}` });
    expect(await store.access.project('web')).toMatchObject({ default_branch: expected });
  });
});
