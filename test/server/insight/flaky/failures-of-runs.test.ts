import { describe, expect, it } from 'vitest';
import type { FileOutcome } from '../../../../src/protocol/file-outcome.js';
import { codeOf, UNTIMED } from '../../../../src/server/engine/test-file.js';
import { failuresOfRuns, type NodeRun, type RecordedCiRun } from '../../../../src/server/insight/flaky/failures-of-runs.js';

/** A file with the number of its path, its outcome, and its seconds: 10 if they are missing. */
type Ran = readonly [path: number, outcome: FileOutcome | null, seconds?: number];

const MINUTE = 60_000;

function runOf(node_index: number, minutes: number, files: readonly Ran[]): NodeRun {
  return {
    node_index,
    created_at: minutes * MINUTE,
    paths: Uint32Array.from(files, ([path]) => path),
    outcomes: Uint8Array.from(files, ([, outcome]) => codeOf(outcome ?? undefined)),
    seconds: Float64Array.from(files, ([, , seconds = 10]) => seconds),
  };
}

const ciRun = (runs: readonly NodeRun[], setting = 'list'): RecordedCiRun => ({ setting, runs });
/** Outages and files, without the circumstances of failures. */
function found(ciRuns: readonly RecordedCiRun[], flakyBefore: readonly number[] = []) {
  const { outages, files } = failuresOfRuns(ciRuns, new Set(flakyBefore));
  return { outages, files: files.map(({ before, slowdown, cases, ...file }) => file) };
}

const passed = (from: number, to: number): Ran[] => Array.from({ length: to - from }, (_, i) => [from + i, 'passed'] as const);
const failed = (from: number, to: number): Ran[] => Array.from({ length: to - from }, (_, i) => [from + i, 'failed'] as const);

const NONE = { outages: [], files: [] };
const flaky = (path: number, more: object = {}) => ({ path, isFlaky: true, node_index: 0, seconds: 0, later: 0, ...more });

describe('a file is flaky', () => {
  it('if it failed on a node and passed on another one, in any order, and costs what it took again', () => {
    const [fails, passes] = [runOf(0, 5, [[1, 'failed', 10]]), runOf(1, 4, [[1, 'passed', 12]])];
    const price = { files: [flaky(1, { seconds: 12 })] };
    expect(found([ciRun([passes, fails])])).toMatchObject(price);
    expect(found([ciRun([fails, passes])])).toMatchObject(price);
  });

  it('if the test runner tried it again; nobody knows how long that took', () => {
    expect(found([ciRun([runOf(2, 1, [[1, 'flaky']])])])).toEqual({ outages: [], files: [flaky(1, { node_index: 2 })] });
  });

  it('if its node was started again, which costs all that ran again, and the time until the end', () => {
    const first = [
      runOf(0, 10, [
        [1, 'failed'],
        [2, 'passed'],
      ]),
      runOf(1, 11, passed(3, 5)),
    ];
    expect(
      found([
        ciRun([
          ...first,
          runOf(0, 31, [
            [1, 'passed', 12],
            [2, 'passed', 8],
          ]),
        ]),
      ]),
    ).toEqual({
      outages: [],
      files: [flaky(1, { seconds: 20, later: 20 * 60 })],
    });
  });

  it('if the next CI run passed, whose cost is divided among the flaky files of the one before', () => {
    const first = ciRun([
      runOf(0, 10, [
        [1, 'failed'],
        [3, 'passed'],
      ]),
      runOf(1, 12, [[2, 'failed']]),
    ]);
    const again = ciRun([
      runOf(0, 40, [
        [1, 'passed'],
        [3, 'passed'],
      ]),
      runOf(1, 42, [[2, 'passed']]),
    ]);
    expect(found([first, again]).files).toEqual([
      flaky(1, { seconds: 15, later: 15 * 60 }),
      flaky(2, { node_index: 1, seconds: 15, later: 15 * 60 }),
    ]);
  });

  it('without the cost of a CI run that another failure required', () => {
    const first = ciRun([
      runOf(0, 10, [
        [1, 'failed'],
        [2, 'failed'],
      ]),
    ]);
    const again = ciRun([
      runOf(0, 40, [
        [1, 'passed'],
        [2, 'failed'],
      ]),
    ]);
    expect(found([first, again]).files).toEqual([flaky(1), { ...flaky(2), isFlaky: false }]);
  });
});

it.each<[seconds: string, failed: Ran, passed: Ran, slowdown: number | null]>([
  ['its seconds when it failed and when it passed', [1, 'failed', 15], [1, 'passed', 10], 1.5],
  ['no seconds of a failure without a time', [1, 'failed', UNTIMED], [1, 'passed', 10], null],
  ['no seconds of a pass without a time', [1, 'failed', 15], [1, 'passed', UNTIMED], null],
  ['no seconds of a file that the test runner tried again', [1, 'flaky', 15], [1, 'passed', 10], null],
])('the slowdown of a flaky file rests on %s', (_, failed, passed, slowdown) => {
  expect(failuresOfRuns([ciRun([runOf(0, 1, [failed]), runOf(1, 2, [passed])])], new Set()).files).toMatchObject([{ slowdown }]);
});

describe('a file that failed', () => {
  it.each<[situation: string, ciRuns: RecordedCiRun[], files: unknown[]]>([
    ['is undecided if it never passed', [ciRun([runOf(0, 1, failed(1, 2))])], [{ ...flaky(1), isFlaky: false }]],
    [
      'is undecided if it never passed in several CI runs',
      [ciRun([runOf(0, 1, failed(1, 2))]), ciRun([runOf(1, 2, failed(1, 2))])],
      [{ ...flaky(1), isFlaky: false }],
    ],
    [
      'tells nothing if it passed with another list or other keys',
      [ciRun([runOf(0, 1, failed(1, 2))]), ciRun([runOf(0, 2, passed(1, 2))], 'other')],
      [],
    ],
    [
      'tells nothing if it could not be loaded, hung or was cut off',
      [ciRun([runOf(0, 1, [[1, 'failed', 0]]), runOf(1, 2, passed(1, 2))])],
      [],
    ],
    [
      'did not pass where it was only scheduled',
      [ciRun([runOf(0, 1, failed(1, 2)), runOf(1, 2, [[1, 'passed', 0]])])],
      [{ ...flaky(1), isFlaky: false }],
    ],
    [
      'did not pass where it was skipped',
      [ciRun([runOf(0, 1, failed(1, 2)), runOf(1, 2, [[1, 'skipped', UNTIMED]])])],
      [{ ...flaky(1), isFlaky: false }],
    ],
    [
      'did not pass where its client tells no outcome',
      [ciRun([runOf(0, 1, failed(1, 2)), runOf(1, 2, [[1, null]])])],
      [{ ...flaky(1), isFlaky: false }],
    ],
  ])('%s', (_, ciRuns, files) => {
    expect(found(ciRuns)).toEqual({ outages: [], files });
  });

  it('counts also if it ran and had no time to measure', () => {
    expect(found([ciRun([runOf(0, 1, [[1, 'failed', UNTIMED]]), runOf(1, 2, [[1, 'passed', UNTIMED]])])]).files).toEqual([flaky(1)]);
  });

  it('is none of a client that tells no outcomes', () => {
    expect(
      found([
        ciRun([
          runOf(0, 1, [
            [1, null],
            [2, null, 0],
          ]),
        ]),
      ]),
    ).toEqual(NONE);
  });
});

describe('a group of failures is an outage, and teaches nothing', () => {
  const others = runOf(1, 1, passed(100, 200));

  it('if five files failed on a node, of which two had not been flaky before', () => {
    const again = ciRun([runOf(0, 60, passed(0, 6)), others]);
    expect(found([ciRun([runOf(0, 1, failed(0, 5)), others]), again])).toEqual({ outages: [{ node_index: 0, files: 5 }], files: [] });
    // The other ones that failed on that node are part of it.
    expect(found([ciRun([runOf(0, 1, failed(0, 6)), others]), again], [5])).toEqual({ outages: [{ node_index: 0, files: 6 }], files: [] });
    expect(found([ciRun([runOf(0, 1, failed(0, 5)), others]), again], [4])).toMatchObject({
      outages: [{ node_index: 0, files: 5 }],
      files: [],
    });
    expect(found([ciRun([runOf(0, 1, failed(0, 5)), others]), again], [1, 2, 3, 4])).toMatchObject({
      outages: [],
      files: Array(5).fill({ isFlaky: true }),
    });
    expect(found([ciRun([runOf(0, 1, failed(0, 4)), others]), again])).toMatchObject({
      outages: [],
      files: Array(4).fill({ isFlaky: true }),
    });
  });

  it('if test runners tried five files of a node again', () => {
    const tried = Array.from({ length: 5 }, (_, i) => [i, 'flaky'] as const);
    expect(found([ciRun([runOf(0, 1, tried), others])])).toEqual({ outages: [{ node_index: 0, files: 5 }], files: [] });
  });

  it('if more than a tenth of a CI run failed, at least five files, although each was flaky before', () => {
    const run = (files: number) => [
      ciRun([runOf(0, 1, [...failed(0, 3), ...passed(10, 20)]), runOf(1, 1, [...failed(3, files), ...passed(20, 60)])]),
    ];
    expect(found(run(6), [0, 1, 2, 3, 4, 5, 6])).toEqual({ outages: [{ node_index: null, files: 6 }], files: [] });
    expect(found(run(5), [0, 1, 2, 3, 4])).toMatchObject({ outages: [], files: Array(5).fill({ isFlaky: false }) });
  });

  it('by the files of the largest CI run: one that was started again may have only those that failed', () => {
    const first = ciRun([runOf(0, 1, [...failed(0, 5), ...passed(10, 100)])]);
    expect(found([first, ciRun([runOf(0, 2, failed(0, 5))])], [0, 1, 2, 3, 4])).toMatchObject({ outages: [], files: { length: 5 } });
  });

  it('but the file may be flaky by another CI run, and costs nothing of what the outage required', () => {
    const outage = ciRun([runOf(0, 1, failed(0, 5)), others]);
    const flake = ciRun([runOf(0, 30, [...failed(0, 1), ...passed(1, 5)]), others]);
    const green = ciRun([runOf(0, 50, passed(0, 5)), others]);
    expect(found([outage, flake, green])).toEqual({
      outages: [{ node_index: 0, files: 5 }],
      files: [flaky(0, { seconds: 50 + 1000, later: 20 * 60 })],
    });
  });
});

it('keeps a bounded number of files, flaky ones first', () => {
  const runs = Array.from({ length: 600 }, (_, i) =>
    runOf(i, 1, [[4 * i, 'failed'], [4 * i + 1, 'failed'], [4 * i + 2, 'flaky'], ...passed(10_000 + 50 * i, 10_050 + 50 * i)]),
  );
  const { files, outages } = found([ciRun(runs)]);
  expect(outages).toEqual([]);
  expect(files).toHaveLength(1000);
  expect(files.slice(0, 600).every(({ isFlaky }) => isFlaky)).toBe(true);
});
