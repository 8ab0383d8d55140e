import { describe, expect, it } from 'vitest';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import type { KnownCases } from '../../../../src/server/engine/pieces/known-cases.js';
import type { Timeline } from '../../../../src/server/insight/timeline/timeline.js';
import { usualNodes } from '../../../../src/server/insight/what-if/prepare-what-if.js';
import { playVariants, resampleStarts, usefulNodesOf } from '../../../../src/server/insight/what-if/scenario.js';
import { speedsIn } from '../../../../src/server/insight/what-if/speeds.js';
import {
  AS_IT_WAS,
  type Changes,
  type Knowledge,
  playCuts,
  type WhatIf,
  whatIfOf,
} from '../../../../src/server/insight/what-if/what-if.js';
import { type Batch, batchOf, timelineOf } from '../lanes.js';

const known = (nodeTotal: number): Knowledge => ({
  nodeTotal,
  now: null,
  candidates: [],
  cases: new Map(),
  pieces: new Map(),
  settings: noSettings,
  expectedPullCost: 10_000,
});

/** The estimates of today. */
const today = (seconds: Record<string, number>) => ({ seconds: new Map(Object.entries(seconds)), isGuessed: false });

/** Two nodes with a long file and forty short ones; each batch costs a second. */
function build(longSeconds = 40) {
  const files = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${from + i}`);
  const batch = (paths: string[], from: number): Batch => ({
    files: paths,
    seconds: paths.map(() => 2),
    from,
    to: from + 1 + 2 * paths.length,
  });
  const first: Batch = { files: ['long'], seconds: [longSeconds], from: 0, to: longSeconds + 1 };
  return timelineOf([
    [first, batch(files(20, 25), longSeconds + 1)],
    [batch(files(0, 10), 4), batch(files(10, 20), 25), batch(files(25, 40), 46)],
  ]);
}

const ratios = (speeds: readonly number[]) =>
  timelineOf(
    speeds.map((speed, node) => {
      const seconds = Array.from({ length: 20 }, (_, i) => ((i % 5) + 8) / 10 / speed);
      return [{ files: seconds.map((_, i) => `${node}-${i}`), seconds, from: 0, to: 30 }];
    }),
    Object.fromEntries(speeds.flatMap((_, node) => Array.from({ length: 20 }, (__, i) => [`${node}-${i}`, 1]))),
  );

describe('a build that is played again', () => {
  it('takes as long as it did with its own number of nodes', () => {
    const { scenario, assumptions } = whatIfOf(build(), AS_IT_WAS, known(2));
    const [played] = playVariants(scenario, [2]);
    expect(assumptions).toMatchObject({ mode: 'queue', start_spread: 4, pull_cost: 1, estimates: 'then', cut: [] });
    // 120 seconds of files, six batches and a start 4 s late.
    expect(played!.wall).toBeGreaterThanOrEqual(64);
    expect(played!.wall).toBeLessThan(68);
    expect(played).toMatchObject({ nodes: 2, floor: 60, bound_by_file: false });
    // The queue hands out nine batches, and no node waits for the other.
    expect(played!.job_seconds).toBeCloseTo(129, 2);
  });

  it.each(['queue', 'split'] as const)('ends no sooner on more nodes than those that are useful, in a %s', mode => {
    const seconds = Array.from({ length: 40 }, (_, i) => 3 + ((i * 7) % 10) + (i < 8 ? 10 : 0));
    const files = seconds.map((_, i) => `${i}`);
    const timeline = timelineOf([[{ files, seconds, from: 0, to: seconds.reduce((sum, each) => sum + each) }]]);
    const { scenario, mostUseful } = whatIfOf(timeline, { ...AS_IT_WAS, mode, startSpread: 0, pullCost: 1.5 }, known(1));
    const outcomes = playVariants(scenario, usualNodes(1, mostUseful));
    const useful = usefulNodesOf(outcomes, mostUseful, 0);
    const walls = playVariants(scenario, [useful - 1, useful, 25, 40]).map(({ wall }) => wall);
    expect(walls).toEqual([expect.toSatisfy(wall => wall > 1.01 * 23.5), 23.5, 23.5, 23.5]);
  });

  it.each([
    ['1.8 s of tests', 1.8, null, 1],
    ['100 s of tests', 100, null, 3],
    ['10 minutes of tests', 600, null, 20],
    ['10 minutes of tests with a set-up of 3 m', 600, 180, 3],
    ['10 minutes of tests on nodes that are ready', 600, 0, 1000],
  ])('has no more nodes that are useful than jobs whose tests take longer than their set-up: %s', (_, seconds, setup, useful) => {
    const variants = Array.from({ length: 64 }, (_, i) => ({ nodes: i + 1, wall: seconds / (i + 1) }));
    expect(usefulNodesOf(variants, 1000, setup)).toBe(useful);
  });

  it('ends sooner when the file that binds it is cut, and not when another is', () => {
    const asked = { ...known(4), candidates: ['long', '7'] };
    const { scenario, candidates } = whatIfOf(build(), { ...AS_IT_WAS, startSpread: 0, pullCost: 0 }, asked);
    expect(playCuts(scenario, 4, candidates)).toEqual([30, 40]);
    const halves = Float64Array.of(0.5, 0.5);
    expect(candidates).toEqual([
      { path: 'long', seconds: 40, file: 0, parts: halves },
      { path: '7', seconds: 2, file: 38, parts: halves },
    ]);
  });

  describe('with long files in pieces', () => {
    const cases: KnownCases = {
      runner: 'pytest',
      cases: Array.from({ length: 36 }, (_, i) => ({ name: `case ${i}`, seconds: 1 })),
      outcomes: [],
      own: 4,
      isProven: true,
      notCut: null,
      isCut: false,
    };
    const pieces = new Map([['long', cases]]);
    const play = (timeline: Timeline, changes: Partial<Changes>, nodeTotal = 4) =>
      whatIfOf(timeline, { ...AS_IT_WAS, startSpread: 0, pullCost: 0, ...changes }, { ...known4, nodeTotal, pieces });
    const known4 = { ...known(4), candidates: ['long'] };
    const wallsOf = ({ scenario }: WhatIf) => playVariants(scenario, [2, 4, 8, 16]).map(({ wall }) => wall);
    /** The long file in two pieces, each of which took what it takes besides its cases. */
    const cutBuild = timelineOf([
      [batchOf(0, { 'long::piece 1 of 2': 22, ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}`, 2])) })],
      [batchOf(0, { 'long::piece 2 of 2': 22, ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${20 + i}`, 2])) })],
    ]);

    it('is cut anew for each number of nodes, where a whole file would decide', () => {
      const whole = play(build(), {});
      const cut = play(build(), { inPieces: true });
      expect(wallsOf(whole)).toEqual([60, 40, 40, 40]);
      const [two, four, eight, sixteen] = wallsOf(cut);
      expect(two).toBe(60);
      // An even share of the work, with what each piece takes again, and a case more.
      expect(four).toBeLessThan(35);
      expect(eight).toBeLessThan(20);
      expect(sixteen).toBeLessThan(13);
      expect(cut.mostUseful).toBeGreaterThan(2 * whole.mostUseful);
      expect([whole.filesInPieces, cut.filesInPieces]).toEqual([1, 1]);
      expect(wallsOf({ ...whole, scenario: whole.other! })).toEqual(wallsOf(cut));
      expect(wallsOf({ ...cut, scenario: cut.other! })).toEqual(wallsOf(whole));
      // Five pieces of at most 8 cases: more would do more than 1.4 times the work of the file.
      expect(cut.longest).toEqual({ path: 'long', seconds: 12 });
    });

    it('is so by default where the build had pieces, which make the whole file again', () => {
      const played = play(cutBuild, {}, 2);
      expect(played.assumptions).toMatchObject({ in_pieces: true, estimates: 'then' });
      expect(played.assumptions.sentences).toContain('Long files run in pieces, cut anew for each number of nodes.');
      expect([...played.scenario.suite.seconds].slice(0, 2)).toEqual([40, 2]);
      expect(wallsOf(played)).toEqual(wallsOf(play(build(), { inPieces: true })));
      expect(wallsOf(play(cutBuild, { inPieces: false }))).toEqual([60, 40, 40, 40]);
      expect(play(cutBuild, { cut: ['long'] }).assumptions).toMatchObject({ in_pieces: false, cut: [{ path: 'long' }] });
    });

    it('keeps the pieces of a file of which no more is known', () => {
      const { scenario, other, longest, assumptions } = whatIfOf(cutBuild, AS_IT_WAS, { ...known4, pieces: new Map() });
      expect(assumptions.in_pieces).toBe(false);
      expect(assumptions.sentences.join(' ')).toMatch(/Pieces of files .* are those of that build\./);
      expect([...scenario.suite.seconds].slice(0, 3)).toEqual([22, 22, 2]);
      expect([other, longest]).toEqual([null, { path: 'long::piece 1 of 2', seconds: 22 }]);
    });

    it('has a file that is cut by hand in those pieces only', () => {
      const { other, filesInPieces, scenario } = play(build(), { cut: ['long'] });
      expect([other, filesInPieces]).toEqual([null, 0]);
      expect([...scenario.suite.seconds].slice(0, 3)).toEqual([20, 20, 2]);
    });

    it('is compared with another file cut beside it', () => {
      const asked = { ...known4, candidates: ['7'], pieces };
      const { scenario, candidates } = whatIfOf(build(), { ...AS_IT_WAS, startSpread: 0, pullCost: 0, inPieces: true }, asked);
      expect(playCuts(scenario, 4, candidates)[0]).toBeLessThan(35);
    });

    it('has whole files as a split, which has no pieces', () => {
      const { assumptions, other, scenario } = play(cutBuild, { mode: 'split', inPieces: true });
      expect([assumptions.in_pieces, other, scenario.suite.seconds[0]]).toEqual([false, null, 40]);
    });
  });

  it('takes the estimate of a file that was not recorded', () => {
    const timeline = timelineOf([[{ files: ['a', 'b'], seconds: [3, null], from: 0, to: 9 }]], { b: 5 });
    const { scenario, assumptions } = whatIfOf(timeline, AS_IT_WAS, known(1));
    expect([...scenario.suite.seconds]).toEqual([5, 3]);
    expect(assumptions.sentences).toContain('Each file takes its recorded time. One file was not recorded and takes its estimate.');
  });

  it('is planned with the estimates of today, or with the recorded times', () => {
    const timeline = timelineOf([[{ files: ['a', 'b'], seconds: [3, 2], from: 0, to: 5 }]], { a: 1, b: 9 });
    const weights = (changes: Partial<Changes>) => [
      ...whatIfOf(timeline, { ...AS_IT_WAS, ...changes }, { ...known(1), now: today({ a: 4, b: 6 }) }).scenario.suite.weights,
    ];
    expect(weights({})).toEqual([90_000, 10_000]);
    expect(weights({ estimates: 'now' })).toEqual([60_000, 40_000]);
    expect(weights({ estimates: 'exact' })).toEqual([30_000, 20_000]);
  });

  it('is planned with the estimates of today if its own were mostly guesses', () => {
    const timeline = timelineOf([[{ files: ['a', 'b'], seconds: [3, 2], from: 0, to: 5 }]], { a: 1, b: 1 });
    const guessed = { ...timeline, is_guess: [1 as const, 1 as const] };
    const { scenario, assumptions } = whatIfOf(guessed, AS_IT_WAS, { ...known(1), now: today({ a: 3, b: 2 }) });
    expect([...scenario.suite.weights]).toEqual([30_000, 20_000]);
    expect(assumptions.estimates).toBe('now');
    expect(assumptions.sentences).toContain(
      'The files are planned with the estimates of today, because those of that build were mostly guesses.',
    );
    expect(whatIfOf(guessed, { ...AS_IT_WAS, estimates: 'then' }, known(1)).scenario.isGuessed).toBe(true);
  });
});

describe('the speeds of nodes', () => {
  const speedsOfBuild = (speeds: readonly number[]) => [...speedsIn(ratios(speeds)).speeds].map(speed => Number(speed.toFixed(1)));

  it('are 1 but for nodes that differ from the others by more than chance', () => {
    expect(speedsOfBuild([1, 1, 1, 0.5])).toEqual([1, 1, 1, 0.5]);
    expect(speedsOfBuild([1, 1.02, 1, 0.98])).toEqual([1, 1, 1, 1]);
  });

  it('are relative: estimates that are all wrong by the same factor make no node slow', () => {
    expect(speedsOfBuild([0.5, 0.5, 0.5])).toEqual([1, 1, 1]);
  });
});

describe('starts of another number of nodes', () => {
  it.each<[what: string, starts: number[], count: number, expected: number[]]>([
    ['are those of the build if it has that number', [0, 20, 5], 3, [0, 20, 5]],
    ['continue an even spread', [0, 12, 24, 36], 9, [0, 6, 12, 18, 24, 30, 36, 42, 48]],
    ['are that of the first node for one node', [10, 22, 34, 46], 1, [10]],
    ['are together after a build of one node', [0], 3, [0, 0, 0]],
  ])('%s', (_, starts, count, expected) => {
    expect([...resampleStarts(Float64Array.from(starts), count)].map(Math.round)).toEqual(expected);
  });

  it('begin when the first node of the build began', () => {
    expect(Math.min(...resampleStarts(Float64Array.of(30, 10), 7))).toBe(10);
  });

  it('do not turn one straggler into many', () => {
    const starts = resampleStarts(Float64Array.of(0, 0, 0, 0, 0, 0, 60), 14);
    expect(starts.filter(start => start > 30)).toHaveLength(2);
    expect(Math.max(...starts)).toBeLessThan(70);
  });
});
