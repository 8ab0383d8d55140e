import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { codeOf, decodeBasis, emptyBasis, encodeBasis, fileBasis, setBasis } from '../../../../src/server/planning/estimating/basis.js';
import { estimate, type Mode } from '../../../../src/server/planning/estimating/estimate.js';
import { toWeight } from '../../../../src/server/planning/weight.js';
import { inListOrder, pathsOf } from '../../../harness/planned-paths.js';

const seed = 20_260_102;

const seconds = fc.double({ min: 0.000_01, max: 5000, noNaN: true });
const suite = fc.uniqueArray(fc.tuple(fc.string({ minLength: 3, maxLength: 8 }), fc.option(seconds)), {
  selector: ([path]) => path,
  maxLength: 60,
});

const estimateSuite = (files: readonly (readonly [string, number | null])[], wholes: Record<string, number> = {}, mode: Mode = 'split') => {
  const pathsIn = files.map(([path]) => path);
  const known = {
    seconds: Float64Array.from(inListOrder(pathsIn, files), ([, time]) => time ?? NaN),
    files: new Map(Object.entries(wholes)),
    basis: emptyBasis(files.length),
  };
  const plan = estimate(suiteOf(pathsIn), known, mode);
  const { seconds, weights } = plan;
  return pathsOf(plan).map((path, i) => ({
    path,
    time_execution: Number.isNaN(seconds[i]) ? null : seconds[i]!,
    weight: weights[i]!,
  }));
};

/** The seconds that each path is planned with. */
const planned = (...args: Parameters<typeof estimateSuite>) =>
  Object.fromEntries(estimateSuite(...args).map(({ path, weight }) => [path, weight / 10_000]));

/** The seconds that are answered for each path. */
const answered = (...args: Parameters<typeof estimateSuite>) =>
  Object.fromEntries(estimateSuite(...args).map(({ path, time_execution }) => [path, time_execution]));

describe('estimates', () => {
  it('contain every path with its measured time or null, slowest first, then by path, and do not depend on the order of the list', () => {
    fc.assert(
      fc.property(suite, files => {
        const estimates = estimateSuite(files);
        const times = estimates.map(({ path, time_execution }) => [path, time_execution] as const);
        expect(new Map(times)).toEqual(new Map(files));
        expect(times.length).toBe(files.length);
        for (const { time_execution, weight } of estimates) {
          expect(Number.isInteger(weight) && weight > 0).toBe(true);
          if (time_execution !== null) expect(weight).toBe(toWeight(time_execution));
        }
        const slowestFirst = estimates.toSorted((a, b) => b.weight - a.weight || (a.path < b.path ? -1 : 1));
        expect(estimates).toEqual(slowestFirst);
        expect(estimateSuite(files.toReversed())).toEqual(estimates);
      }),
      { seed, numRuns: 100 },
    );
  });

  it('are equal for all files while nothing was ever measured', () => {
    const estimates = estimateSuite(['b_spec.rb', 'a_spec.rb', 'c_spec.rb'].map(path => [path, null]));
    expect(estimates.map(({ path }) => path)).toEqual(['a_spec.rb', 'b_spec.rb', 'c_spec.rb']);
    expect(new Set(estimates.map(({ weight }) => weight)).size).toBe(1);
  });
});

describe('a new file', () => {
  const suiteOf = (directory: string, times: readonly number[]) => times.map((time, i) => [`${directory}/${i}_spec.rb`, time] as const);

  it('is estimated like one of the slower measured files, at most like the slowest', () => {
    fc.assert(
      fc.property(suite, files => {
        const known = files.flatMap(([, time]) => (time === null ? [] : [toWeight(time)]));
        fc.pre(known.length > 0 && files.every(([path]) => !/[/\\]/.test(path)));
        for (const { time_execution, weight } of estimateSuite(files)) {
          if (time_execution !== null) continue;
          expect(weight).toBeLessThanOrEqual(Math.max(...known));
          expect(known.filter(time => time <= weight).length / known.length).toBeGreaterThanOrEqual(0.75);
        }
      }),
      { seed, numRuns: 100 },
    );
  });

  it('is not planned beside its neighbours in a queue that is mostly guessed', () => {
    const files = Array.from({ length: 100 }, (_, i) => [`spec/${100 + i}_spec.rb`, i % 50 === 0 ? 1 : null] as const);
    const paths = (mode: Mode) => estimateSuite(files, {}, mode).map(({ path }) => path);
    const sorted: string[] = files.map(([path]) => path);
    expect(paths('split')).toEqual(sorted);
    expect(paths('queue').toSorted()).toEqual(sorted);
    const batch = paths('queue').slice(0, 10);
    expect(new Set(batch.map(path => Math.floor(sorted.indexOf(path) / 20))).size).toBe(5);
    const measured = files.map(([path], i) => [path, i % 2 === 0 ? 1 : null] as const);
    expect(estimateSuite(measured, {}, 'queue').map(({ path }) => path)).toEqual(sorted);
  });

  it('is estimated slower in a queue', () => {
    const files = [...suiteOf('spec', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), ['spec/new_spec.rb', null] as const];
    expect(planned(files)['spec/new_spec.rb']).toBe(8);
    expect(planned(files, {}, 'queue')['spec/new_spec.rb']).toBe(10);
  });

  it('is estimated from the nearest directory with three measured files', () => {
    const files = [
      ...suiteOf('spec/models', [1, 1, 1, 1]),
      ...suiteOf('spec/system', [60, 60, 60]),
      ...suiteOf('spec/system/admin', [5, 5]),
      ...suiteOf('lib\\windows', [7, 7, 7]),
    ];
    const fresh = [
      'spec/models/new_spec.rb',
      'spec/models/deep/down/new_spec.rb',
      'spec/system/admin/new_spec.rb',
      'lib\\windows\\new_spec.rb',
      'elsewhere/new_spec.rb',
      'new_spec.rb',
    ];
    const seconds = planned([...files, ...fresh.map(path => [path, null] as const)]);
    // The 75th percentile of the whole suite is 60 s.
    expect(fresh.map(path => seconds[path])).toEqual([1, 1, 60, 7, 60, 60]);
  });

  it('is estimated for any path', () => {
    const odd = ['__proto__/a', 'constructor', '/', '//', '///a', 'a/'.repeat(2000), '\\\\', '[1]', ' / '];
    const seconds = planned([...odd.map(path => [path, null] as const), ['a_spec.rb', 5]]);
    for (const path of odd) expect(Object.getOwnPropertyDescriptor(seconds, path)?.value, path).toBe(5);
  });
});

describe('a test case that was never measured', () => {
  const cases = (...times: (number | null)[]) => times.map((time, i) => [`a_spec.rb[1:${i}]`, time] as const);

  it.each<[what: string, times: (number | null)[], expected: number]>([
    ['is estimated as an equal part of its file', [null, null, null], 4],
    ['is estimated as a part of what the measured cases leave of its file', [6, null, null], 3],
    ['has a positive estimate even if the measured cases take longer than the file', [20, null], 0.6],
  ])('%s', (_, times, expected) => {
    const seconds = Object.values(answered(cases(...times), { 'a_spec.rb': 12 }));
    expect(seconds.filter(each => !times.includes(each))).toEqual(
      times.flatMap(each => (each === null ? [expect.closeTo(expected, 10)] : [])),
    );
  });

  it('follow the sizes of the files, within a factor of five, while nothing was measured', () => {
    const paths = ['a', 'b', 'c', 'd', 'e'];
    const guess = (seconds: number[], sizes?: number[]) => {
      const known = { seconds: Float64Array.from(seconds), files: new Map(), basis: emptyBasis(paths.length) };
      const plan = estimate(suiteOf(paths), known, 'queue', sizes);
      return Object.fromEntries(pathsOf(plan).map((path, i) => [path, plan.weights[i]! / 10_000]));
    };
    const unknown = Array<number>(5).fill(NaN);
    expect(guess(unknown, [100, 50, 0, 150, 100])).toEqual({ a: 1, b: 0.5, c: 1, d: 1.5, e: 1 });
    expect(guess(unknown, [1, 1, 1, 1, 1e6])).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 5 });
    expect(guess(unknown, [0, 0, 0, 0, 0])).toEqual(guess(unknown));
    expect(guess([3, NaN, NaN, NaN, NaN], [1, 1, 1, 1, 1e6])).toEqual({ a: 3, b: 3, c: 3, d: 3, e: 3 });
  });

  it('is guessed from the measured cases of its file when the file was never measured', () => {
    const others = [1, 2, 3].map(i => [`${i}_spec.rb`, 100] as const);
    const files = [...cases(1, 1, 1, null), ...others];
    expect(planned(files)['a_spec.rb[1:3]']).toBe(1);
    expect(answered(files)['a_spec.rb[1:3]']).toBeNull();
  });
});

describe('the basis of an estimate', () => {
  const basisOf = (paths: readonly string[], measured: Record<string, number>, wholes: Record<string, number> = {}) => {
    const basis = emptyBasis(paths.length);
    for (const [i, path] of paths.entries()) if (path in measured) setBasis(basis, i, codeOf('branch'), 3, 0.2);
    const known = { seconds: Float64Array.from(paths, path => measured[path] ?? NaN), files: new Map(Object.entries(wholes)), basis };
    const planned = estimate(suiteOf(paths), known, 'queue');
    return Object.fromEntries(pathsOf(planned).map((path, i) => [path, fileBasis(planned.basis, i)]));
  };
  const guess = (source: string) => ({ source, count: 0, spread: null });

  it('goes with its path into the order of the plan', () => {
    const bases = basisOf(['a/1', 'a/2', 'a/3', 'a/new', 'b/new', 'c/1'], { 'a/1': 1, 'a/2': 9, 'a/3': 5, 'c/1': 7 });
    expect(bases['a/2']).toEqual({ source: 'branch', count: 3, spread: expect.closeTo(Math.exp(0.2)) as number });
    expect([bases['a/new'], bases['b/new']]).toEqual([guess('directory'), guess('suite')]);
  });

  it('of a test case is its file, by its whole time or by its other cases', () => {
    const cases = ['a[1]', 'a[2]', 'a[3]', 'a[4]', 'b[1]', 'b[2]'];
    const bases = basisOf(cases, { 'a[1]': 1, 'a[2]': 2, 'a[3]': 3, 'b[1]': 1 }, { b: 4 });
    expect([bases['a[4]'], bases['b[2]']]).toEqual([guess('file'), guess('file')]);
  });

  it('is read from the bytes that a plan keeps, node by node, with the seconds of its guesses', () => {
    const paths = ['a/1', 'a/2', 'a/3', 'a/new', 'b/new'];
    const basis = emptyBasis(paths.length);
    for (const file of [0, 1, 2]) setBasis(basis, file, codeOf('branch'), 200 + 100 * file, 0.1 + file);
    const files = estimate(suiteOf(paths), { seconds: Float64Array.of(1, 9, 5, NaN, NaN), files: new Map(), basis }, 'queue');
    expect(pathsOf(files)).toEqual(['a/2', 'a/new', 'b/new', 'a/3', 'a/1']);
    const bytes = encodeBasis(files, [3, 0, 1, 4, 2]);
    expect(bytes.length).toBe(1 + 3 * 5 + 4 * 2);
    const decoded = decodeBasis(bytes, 5);
    expect(Array.from({ length: 5 }, (_, file) => fileBasis(decoded.basis, file))).toEqual(
      [3, 0, 1, 4, 2].map(file => fileBasis(files.basis, file)),
    );
    expect(decoded.guesses).toEqual(Float32Array.of(NaN, NaN, 9, NaN, 9));
    expect(() => decodeBasis(bytes, 4)).toThrow('bytes instead of');
  });
});
