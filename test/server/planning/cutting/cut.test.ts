import { describe, expect, it } from 'vitest';
import { type Cut, type CuttableFile, cutFiles, longFiles } from '../../../../src/server/planning/cutting/cut.js';
import { longestFirst } from '../../../../src/server/planning/packing/pack.js';

const SECOND = 10_000;
const FREE = { hidden: 0, slowdown: 1, pullCost: 0 };
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

interface Suite {
  weights: Float64Array;
  files: CuttableFile[];
}

/** A suite of files with these cases, the longest file first. @param own what each file takes besides its cases */
function suiteOf(cases: readonly (readonly number[])[], own = 0): Suite {
  const sorted = cases.map(times => ({ cases: times, own, weight: sum(times) + own })).sort((a, b) => b.weight - a.weight);
  return {
    weights: Float64Array.from(sorted, ({ weight }) => weight),
    files: sorted.map(({ cases: times }, file) => ({ file, cases: times, own })).filter(file => file.cases.length > 1),
  };
}

/** The makespan of the suite with its pieces, recomputed. */
function makespan({ weights }: Suite, cuts: readonly Cut[], nodes: number): number {
  const cut = new Set(cuts.map(({ file }) => file));
  const whole = weights.filter((_, file) => !cut.has(file));
  const pieces = cuts.flatMap(one => one.pieces.map(({ weight }) => weight));
  return Math.max(
    ...longestFirst(
      Float64Array.from([...whole, ...pieces])
        .sort()
        .reverse(),
      nodes,
    ).loads,
  );
}

/** A file of 40 cases of a second, and 60 files of one case of a second. */
const LONG = suiteOf([Array(40).fill(SECOND), ...Array.from({ length: 60 }, () => [SECOND])]);

describe('a suite with a file of 40 s and 60 files of a second, on 10 nodes', () => {
  it('ends after its even share in pieces of at most half of it', () => {
    const cutting = cutFiles(LONG.weights, 10, LONG.files, FREE)!;
    expect(cutting).toMatchObject({ before: 40 * SECOND, after: 10 * SECOND });
    expect(makespan(LONG, cutting.cuts, 10)).toBe(10 * SECOND);
    expect(cutting.cuts).toHaveLength(1);
    expect(cutting.cuts[0]!.pieces.map(({ weight }) => weight)).toEqual(Array(8).fill(5 * SECOND));
  });

  it('charges the file and each of its pieces the start of the test runner', () => {
    const cutting = cutFiles(LONG.weights, 10, LONG.files, { ...FREE, pullCost: 3 * SECOND })!;
    expect(cutting.before).toBe(43 * SECOND);
  });

  it('has each case in one piece, in their order', () => {
    const [{ pieces }] = cutFiles(LONG.weights, 10, LONG.files, FREE)!.cuts as [Cut];
    expect(pieces[0]!.from).toBe(0);
    expect(pieces.map(({ to }) => to)).toEqual([...pieces.slice(1).map(({ from }) => from), 40]);
  });

  it.each([
    ['on one node', 1, FREE],
    ['on two nodes, which end together anyway', 2, FREE],
    ['if the start of a runner takes more than what is gained', 10, { ...FREE, pullCost: 60 * SECOND }],
    ['if each piece repeats hidden time that takes more than what is gained', 10, { ...FREE, hidden: 60 * SECOND }],
  ])('is not cut %s', (_, nodes, cost) => {
    expect(cutFiles(LONG.weights, nodes, LONG.files, cost)).toBeNull();
  });
});

describe('the pieces of a file', () => {
  it('take together at most 1.4 times as long as the file', () => {
    for (const own of [1, 5, 10, 20, 40].map(seconds => seconds * SECOND)) {
      const suite = suiteOf([Array(40).fill(SECOND), ...Array.from({ length: 60 }, () => [SECOND])], own);
      for (const { file, pieces } of cutFiles(suite.weights, 20, suite.files.slice(0, 1), FREE)?.cuts ?? []) {
        expect(sum(pieces.map(({ weight }) => weight))).toBeLessThanOrEqual(1.4 * suite.weights[file]!);
      }
    }
  });

  it('are scaled to its estimate, which rests on more builds than the times of its cases', () => {
    const weights = LONG.weights.map((weight, file) => (file === 0 ? 2 * weight : weight));
    const [{ pieces }] = cutFiles(weights, 10, LONG.files, FREE)!.cuts as [Cut];
    expect(sum(pieces.map(({ weight }) => weight))).toBe(80 * SECOND);
  });

  it('cannot be shorter than its longest case', () => {
    const suite = suiteOf([[...Array(10).fill(SECOND), 20 * SECOND], ...Array.from({ length: 30 }, () => [SECOND])]);
    const cutting = cutFiles(suite.weights, 20, suite.files, FREE)!;
    expect(cutting.after).toBe(20 * SECOND);
  });
});

describe('odd files', () => {
  const others = Float64Array.from(Array(60).fill(SECOND));
  const WEEK = 7 * 86_400 * SECOND;
  it.each<[string, number, number[], number]>([
    ['one case that takes nearly all of the time', 41 * SECOND, [1, 40 * SECOND, 1], 1],
    ['5,000 cases without a time', 40 * SECOND, Array(5000).fill(1), 1],
    ['5,000 cases of a week', WEEK, Array(5000).fill(WEEK), WEEK],
    ['cases that take less than what the file takes besides', 40 * SECOND, Array(40).fill(1), 40 * SECOND],
    ['cases that took far longer than the estimate says', 40 * SECOND, Array(40).fill(1000 * SECOND), 1],
    ['more than the estimate besides its cases', 40 * SECOND, Array(40).fill(SECOND), 400 * SECOND],
  ])('with %s stay whole, or have each case in one of at most 100 pieces', (_, weight, cases, own) => {
    const cutting = cutFiles(Float64Array.of(weight, ...others), 10, [{ file: 0, cases, own }], FREE);
    for (const { pieces } of cutting?.cuts ?? []) {
      expect(pieces.length).toBeLessThanOrEqual(100);
      expect(pieces.every(piece => piece.weight >= 1 && piece.to > piece.from)).toBe(true);
      expect([0, ...pieces.map(({ to }) => to)]).toEqual([...pieces.map(({ from }) => from), cases.length]);
      expect(sum(pieces.map(piece => piece.weight))).toBeLessThanOrEqual(1.4 * weight + pieces.length);
    }
    if (cutting) expect(cutting.after).toBeLessThan(cutting.before);
  });
});

it('drawn suites end in pieces within 8 % of the bound of pieces of any size, and never later than whole', () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (const nodes of [2, 4, 8, 16, 32]) {
    for (let i = 0; i < 20; i++) {
      // Few files have most of the time, and few cases most of that of their file.
      const suite = suiteOf(
        Array.from({ length: 30 + Math.floor(100 * random()) }, () => {
          const scale = SECOND * Math.exp(2.5 * random() * random());
          return Array.from({ length: 1 + Math.floor(60 * random() ** 3) }, () => Math.ceil(scale * Math.exp(2 * random())));
        }),
      );
      const whole = makespan(suite, [], nodes);
      const cutting = cutFiles(
        suite.weights,
        nodes,
        suite.files.filter(({ file }) => longFiles(suite.weights, nodes).includes(file)),
        FREE,
      );
      const longestCase = Math.max(...suite.files.flatMap(({ cases }) => cases));
      const bound = Math.max(sum([...suite.weights]) / nodes, longestCase);
      const after = makespan(suite, cutting?.cuts ?? [], nodes);
      expect(after).toBeLessThanOrEqual(whole);
      expect(after / bound).toBeLessThan(1.08);
    }
  }
});

it('long files are those above half of an even share, and no more than are read for a plan', () => {
  expect(longFiles(Float64Array.from([40, 6, 5, 4, 1]), 5)).toEqual([0, 1]);
  expect(longFiles(new Float64Array(300).fill(7), 300)).toHaveLength(200);
});
