import { describe, expect, it } from 'vitest';
import type { RecordedPath } from '../../../../src/server/engine/ports/timings.js';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { emptyBasis, fileBasis } from '../../../../src/server/planning/estimating/basis.js';
import { STALE_TEST_CASE_MILLISECONDS } from '../../../../src/server/planning/estimating/measured-times.js';
import { DAY, NOW, newProject, type Recording, record, secondsOf, type Times } from './fixtures.js';
import { stores } from './stores.js';

describe.each(stores)('timings in a store in $name', ({ opened: openStore }) => {
  /** Each recording is another build two days on, or a run of the commit that it names. */
  async function opened() {
    const { store, project } = await openStore();
    const commits: string[] = [];
    const measure = (branch: string, times: Times, recording: Recording = {}) => {
      const { commit_hash = `commit-${commits.length}` } = recording;
      if (!commits.includes(commit_hash)) commits.push(commit_hash);
      return record(store, project, times, { branch, commit_hash, at: NOW + commits.indexOf(commit_hash) * 2 * DAY, ...recording });
    };
    const seconds = (paths: string[], branch?: string) => secondsOf(store, project, paths, branch);
    return { store, project, measure, seconds };
  }
  const cases = (times: number[]) => Object.fromEntries(times.map((time, i) => [`spec/a_spec.rb[1:${i + 1}]`, time]));

  it('are returned in the order of the paths, within their project', async () => {
    const { store, project, measure, seconds } = await opened();
    const other = await newProject(store, 'other');
    await measure('main', { 'a_spec.rb': 1.5, 'b_spec.rb': 20 });
    expect(await seconds(['b_spec.rb', 'new_spec.rb', 'a_spec.rb'])).toEqual([20, null, 1.5]);
    expect(await secondsOf(store, other, ['a_spec.rb'])).toEqual([null]);
    expect(await store.timings.estimates(project, 'main', suiteOf([]), 10)).toMatchObject({
      seconds: new Float64Array(),
      isComplete: true,
    });
  });

  it('of a list that is like the one before are those of its own paths, in its own project', async () => {
    const { store, measure, seconds } = await opened();
    const other = await newProject(store, 'other');
    const name = (i: number) => `spec/${String(i).padStart(3, '0')}_spec.rb`;
    const times = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [name(i), i + 1]));
    await measure('main', times);
    const all = Object.keys(times);
    const changed = (from: number, to: number, ...added: string[]) => [...all.slice(0, from), ...added, ...all.slice(to)];
    const news = ['spec/0_spec.rb', 'spec/1', 'spec/größe_spec.rb'];
    for (const list of [
      all,
      changed(0, 3),
      changed(50, 90),
      changed(60, 60, ...news),
      changed(199, 200, ...news),
      changed(0, 200, name(7)),
      all,
    ])
      expect(await seconds(list)).toEqual(list.map(path => times[path] ?? null));
    await measure('main', { [news[0]!]: 9 });
    expect(await seconds(changed(0, 1, ...news))).toEqual([9, null, null, ...Object.values(times).slice(1)]);
    expect(await secondsOf(store, other, all)).toEqual(all.map(() => null));
  });

  it('of a large suite count as soon as its recording resolves', async () => {
    const { measure, seconds } = await opened();
    const times = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`spec/${i}_spec.rb`, i + 1]));
    await Promise.all([measure('main', times), measure('main', { 'other_spec.rb': 1 }, { commit_hash: 'other' })]);
    expect(await seconds(Object.keys(times))).toEqual(Object.values(times));
  });

  it('are kept apart for paths that are long, odd or inside one another', async () => {
    const { measure, seconds } = await opened();
    const long = 'x'.repeat(4000);
    const paths = [
      ...['a', 'a[1:1]', 'a[1:2]', 'a::b', 'a:1', 'a\n:1', 'a\n[1]', 'a\n', 'a\t', '\u0000a', '1/a'],
      ...[long, `${long}y`, `${long}[1:1]`, `${long}::b`, `${long.slice(0, 64)}\t`, '測試/größe'],
    ];
    await measure('main', Object.fromEntries(paths.map((path, i) => [path, i + 1])));
    expect(await seconds(paths)).toEqual(paths.map((_, i) => i + 1));
  });

  it('of the test cases of a file are returned, the current ones only', async () => {
    const { store, project, measure } = await opened();
    await measure('main', cases([9, 9, 9]), { commit_hash: 'old' });
    await measure('main', { 'other_spec.rb': 1 });
    await measure('main', cases([2, 1]));
    const times = await store.timings.cases(project, 'main', 'spec/a_spec.rb');
    expect(times).toHaveLength(2);
    expect(times[0]).toBeGreaterThan(times[1]!);
    expect(await store.timings.cases(project, 'main', 'other_spec.rb')).toEqual([]);
    expect(await store.timings.cases(project, 'main', 'unknown_spec.rb')).toEqual([]);
  });

  it('include a retry that is the first run of its build to measure a path', async () => {
    const { measure, seconds } = await opened();
    await measure('main', { a: 10, b: 10 });
    await measure('main', { a: 60, b: 0 }, { commit_hash: 'next' });
    await measure('main', { a: 60, b: 30 }, { commit_hash: 'next' });
    expect((await seconds(['b']))[0]).toBeGreaterThan(11);
  });

  it('ignore a retry that comes after other builds, and a repeated request', async () => {
    const { measure, seconds } = await opened();
    await measure('main', { 'a_spec.rb': 10 }, { commit_hash: 'abc' });
    await measure('main', { 'a_spec.rb': 11 });
    const before = await seconds(['a_spec.rb']);
    expect(await measure('main', { 'a_spec.rb': 500 }, { commit_hash: 'abc' })).toBe('recorded');
    expect(await measure('main', { 'a_spec.rb': 500 }, { commit_hash: 'abc', isRetry: true })).toBe('already recorded');
    expect(await seconds(['a_spec.rb'])).toEqual(before);
  });

  it('of all branches ignore a retry that comes after other builds, which that of its branch counts', async () => {
    const { measure, seconds } = await opened();
    await measure('main', { 'b_spec.rb': 1 });
    await measure('feature', { 'a_spec.rb': 20 }, { commit_hash: 'abc' });
    await measure('other', { 'a_spec.rb': 30 });
    const before = await seconds(['a_spec.rb'], 'new');
    await measure('feature', { 'a_spec.rb': 500 }, { commit_hash: 'abc' });
    expect([await seconds(['a_spec.rb'], 'new'), await seconds(['a_spec.rb'], 'feature')]).toEqual([before, [260]]);
  });

  it('of a branch follow its own builds only', async () => {
    const { measure, seconds } = await opened();
    for (const [branch, time] of [10, 20, 10, 20, 10].map(time => [time === 10 ? 'main' : 'feature', time] as const))
      await measure(branch, { 'a_spec.rb': time });
    expect((await seconds(['a_spec.rb']))[0]).toBeCloseTo(10, 3);
    expect((await seconds(['a_spec.rb'], 'feature'))[0]).toBeCloseTo(20, 3);
  });

  it('are kept for the default branch, the last seven branches, and all together', async () => {
    const { store, measure, seconds } = await opened();
    await measure('main', { 'a_spec.rb': 10 });
    for (let i = 0; i < 20; i++) await measure(`branch-${i}`, { 'a_spec.rb': i + 1 });
    const of = async (branch: string) => (await seconds(['a_spec.rb'], branch))[0];
    expect(await Promise.all(['branch-19', 'branch-13', 'branch-12', 'main'].map(of))).toEqual([20, 14, 10, 10]);
    await store.maintenance.publish('timings');
    expect((await store.timings.all(0, 10))[0]!.timings).toHaveLength(9);
  });

  it('tell which files a branch measured, whole, in pieces or by their test cases', async () => {
    const { store, project, measure } = await opened();
    await measure('main', { 'whole.py': 1, 'cut.py::piece 1 of 2': 1, 'cases.py::test_one': 1, 'untimed.py': 0, 'prefix.py': 1 });
    await measure('feature', { 'whole.py': 1, 'new.py': 1, 'cut.py': 1, 'cases.py': 1, 'new.py::piece 1 of 2': 1, prefix: 1 });
    const files = ['whole.py', 'cut.py', 'cases.py', 'untimed.py', 'new.py', 'prefix', 'unknown.py'];
    const on = (branch: string) => store.timings.measuredOn(project, branch, files);
    expect(await on('main')).toEqual(new Set(['whole.py', 'cut.py', 'cases.py']));
    expect(await on('feature')).toEqual(new Set(['whole.py', 'new.py', 'cut.py', 'cases.py', 'prefix']));
    expect(await on('other')).toEqual(new Set());
  });

  it('are those of the branch, else of the default branch, else of any', async () => {
    const { measure, seconds } = await opened();
    await measure('main', { 'a_spec.rb': 10, 'b_spec.rb': 10 });
    await measure('feature', { 'a_spec.rb': 20, 'c_spec.rb': 20 });
    await measure('other', { 'a_spec.rb': 30, 'c_spec.rb': 30 });
    const paths = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb'];
    expect(await seconds(paths, 'feature')).toEqual([20, 10, 20, null]);
    const [a, b, c, d] = await seconds(paths, 'new');
    expect([a, b, d]).toEqual([10, 10, null]);
    expect(c).toBeGreaterThan(20);
    expect(c).toBeLessThan(30);
  });

  it('of test cases are summed up for a file that was never measured', async () => {
    const { store, measure, seconds } = await opened();
    await record(store, await newProject(store, 'other'), cases([8, 8, 8, 8]));
    await measure('main', cases([1, 2, 4]));
    expect(await seconds(['spec/a_spec.rb', 'spec/a_spec', 'spec/a_spec.rb[1:2]'])).toEqual([7, null, 2]);
    await measure('main', { 'spec/a_spec.rb': 9 });
    expect(await seconds(['spec/a_spec.rb'])).toEqual([9]);
  });

  it('of test cases are summed up once, even if several runs and nodes of a build measured them', async () => {
    const { measure, seconds } = await opened();
    const commit_hash = 'abc';
    await measure('main', { 'spec/a_spec.rb[1:1]': 1, 'spec/a_spec.rb[1:2]': 2 }, { commit_hash });
    await measure('main', { 'spec/a_spec.rb[1:2]': 4, 'spec/a_spec.rb[1:3]': 5 }, { commit_hash, node_index: 1 });
    await measure('main', { 'spec/a_spec.rb[1:1]': 3, 'spec/a_spec.rb[1:2]': 9 }, { commit_hash });
    expect(await seconds(['spec/a_spec.rb'])).toEqual([2 + 4 + 5]);
  });

  it('of test cases are summed up to a limit for all files, which the result states', async () => {
    const { store, project, measure } = await opened();
    await measure('main', { 'a[1]': 1, 'a[2]': 1, 'b[1]': 1, 'b[2]': 1, 'c[1]': 1 });
    const estimates = (mostCases: number) => store.timings.estimates(project, 'main', suiteOf(['a', 'b', 'c']), mostCases);
    expect(await estimates(3)).toMatchObject({ isComplete: false, seconds: Float64Array.of(2, 1, NaN) });
    expect(await estimates(6)).toMatchObject({ isComplete: true, seconds: Float64Array.of(2, 2, 1) });
  });

  it('of test cases are those of the branch, and of the default branch where the branch did not run them', async () => {
    const { measure, seconds } = await opened();
    await measure('main', { 'a[1]': 1, 'a[2]': 1, 'a[3]': 1 });
    await measure('feature', { 'a[2]': 5 }, { at: NOW });
    expect(await Promise.all(['feature', 'main', 'new'].map(branch => seconds(['a'], branch)))).toEqual([[7], [3], [3]]);
  });

  it('of test cases are those of another branch if neither the branch nor the default branch ran any', async () => {
    const { measure, seconds } = await opened();
    await measure('main', { other: 1 });
    await measure('feature', { 'a[1]': 10, 'a[2]': 5 }, { at: NOW });
    expect([await seconds(['a'], 'new'), await seconds(['a'])]).toEqual([[15], [15]]);
    await measure('main', { 'a[3]': 1 }, { at: NOW });
    expect([await seconds(['a'], 'new'), await seconds(['a'])]).toEqual([[1], [1]]);
  });

  it('of test cases are left out when they were measured long before the last one', async () => {
    const { measure, seconds } = await opened();
    for (const [times, at] of [
      [{ 'a[3]': 4 }, NOW - 1],
      [{ 'a[2]': 2 }, NOW],
      [{ 'a[1]': 1 }, NOW + STALE_TEST_CASE_MILLISECONDS],
    ] as const)
      await measure('main', times, { at });
    expect(await seconds(['a'])).toEqual([3]);
  });

  it('of test cases have the basis of the one that was measured least often, and errors that cancel in part', async () => {
    const { store, project, measure } = await opened();
    const bases = async () => {
      const { basis } = await store.timings.estimates(project, 'main', suiteOf(['a', 'b']), 10);
      return [fileBasis(basis, 0), fileBasis(basis, 1)] as const;
    };
    for (let build = 0; build < 9; build++) await measure('main', { a: 3, 'b[1]': 3, 'b[2]': 3 });
    const [file, cases] = await bases();
    expect([file, cases]).toMatchObject([
      { source: 'branch', count: 9 },
      { source: 'cases', count: 9 },
    ]);
    expect(cases.spread).toBeGreaterThan(1);
    expect(cases.spread).toBeLessThan(file.spread!);
    await measure('main', { 'b[3]': 3 }, { at: NOW + 16 * DAY });
    expect((await bases())[1]).toMatchObject({ source: 'cases', count: 1 });
  });

  it('of the pieces of a file are none of its test cases', async () => {
    const { measure, seconds } = await opened();
    await measure('main', { 'a.py::test_b': 5, 'a.py::piece 1 of 2': 2, 'a.py::piece 2 of 2': 2 });
    expect(await seconds(['a.py'])).toEqual([5]);
  });

  it('of a file are returned for its new test cases', async () => {
    const { store, project, measure } = await opened();
    await measure('main', { 'spec/a_spec.rb': 12, 'test/b.py::test_one': 3 });
    const known = await store.timings.estimates(
      project,
      'main',
      suiteOf(['spec/a_spec.rb[1:1]', 'spec/a_spec.rb[1:2]', 'test/b.py::test_two']),
      100,
    );
    const unknown = { seconds: Float64Array.of(NaN, NaN, NaN), basis: emptyBasis(3) };
    expect(known).toEqual({ ...unknown, files: new Map([['spec/a_spec.rb', 12]]), isComplete: true });
  });

  it('of all projects are listed by number, in pieces', async () => {
    const { store, project, measure } = await opened();
    const other = await newProject(store, 'other');
    await measure('main', { a: 1, b: 0 });
    await record(store, other, { a: 3, c: 4 }, { at: NOW + DAY });
    await store.maintenance.publish('timings');
    const listed: RecordedPath[] = [];
    for (let from = 0; ; ) {
      const piece = await store.timings.all(from, 3);
      listed.push(...piece);
      if (piece.length < 3) break;
      from = piece.at(-1)!.number + 1;
    }
    expect(listed.map(({ project: owner, path, seen_at, timings }) => [owner, path, seen_at, timings.map(({ times }) => times)])).toEqual([
      [project, 'a', NOW, [[1]]],
      [project, 'b', NOW, []],
      [other, 'a', NOW + DAY, [[3]]],
      [other, 'c', NOW + DAY, [[4]]],
    ]);
  });
});
