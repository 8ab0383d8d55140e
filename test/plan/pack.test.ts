import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUpSuite, normal, randomOf } from '../../bench/suites.js';
import { lowerBound, pack, type Packing } from '../../src/plan/pack.js';
import { toWeight } from '../../src/plan/weight.js';

const seed = 20_260_101;

const weightsOf = (seconds: Iterable<number>) => Float64Array.from(seconds, toWeight).sort().reverse();
const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);

const suite = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 1_000_000 })), { maxLength: 120 })
  .map(weights => Float64Array.from(weights).sort().reverse());
const nodeTotal = fc.integer({ min: 1, max: 40 });

/** The packing, after a look that it is one: every file on one node, and the loads are what it says. */
function checkedPack(weights: Float64Array, nodes: number): Packing {
  const packing = pack(weights, nodes);
  expect(packing.nodes.length).toBe(nodes);
  expect(packing.nodes.flat().sort((a, b) => a - b)).toEqual([...weights.keys()]);
  for (const files of packing.nodes) expect(files).toEqual([...files].sort((a, b) => a - b));
  const loads = packing.nodes.map(files => sum(files.map(file => weights[file]!)));
  expect(packing.makespan).toBe(Math.max(0, ...loads));
  return packing;
}

/** Longest first to the emptiest node. */
function longestFirst(weights: Float64Array, nodes: number): number {
  const loads = Array<number>(nodes).fill(0);
  for (const weight of weights) loads[loads.indexOf(Math.min(...loads))]! += weight;
  return Math.max(...loads);
}

/** The least makespan there is, by trying everything. */
function leastMakespan(weights: Float64Array, nodes: number): number {
  const loads = Array<number>(nodes).fill(0);
  let least = Infinity;
  const place = (file: number) => {
    if (Math.max(...loads) >= least) return;
    if (file === weights.length) {
      least = Math.max(...loads);
      return;
    }
    for (let node = 0; node < nodes; node++) {
      // Equal nodes are alike: one of them is enough.
      if (loads.indexOf(loads[node]!) !== node) continue;
      loads[node]! += weights[file]!;
      place(file + 1);
      loads[node]! -= weights[file]!;
    }
  };
  place(0);
  return least;
}

describe('a packing', () => {
  it('gives every file to one node, slowest first, and tells the load of the fullest', () => {
    fc.assert(
      fc.property(suite, nodeTotal, (weights, nodes) => {
        checkedPack(weights, nodes);
      }),
      { seed, numRuns: 300 },
    );
  });

  it('gives every file to one node also where it takes many steps', () => {
    // Near-equal files, and so many a node that only some of two nodes' can be divided anew at once.
    const hard = fc.array(fc.integer({ min: 90_000, max: 110_000 }), { minLength: 20, maxLength: 150 });
    fc.assert(
      fc.property(hard, fc.integer({ min: 2, max: 9 }), (weights, nodes) => {
        checkedPack(Float64Array.from(weights).sort().reverse(), nodes);
      }),
      { seed, numRuns: 50 },
    );
  });

  it('is never worse than longest first, and never better than its lower bound', () => {
    fc.assert(
      fc.property(suite, nodeTotal, (weights, nodes) => {
        const { makespan, lowerBound: bound } = checkedPack(weights, nodes);
        expect(makespan).toBeLessThanOrEqual(longestFirst(weights, nodes));
        expect(makespan).toBeGreaterThanOrEqual(bound);
        expect(bound).toBeGreaterThanOrEqual(Math.max(Math.ceil(sum(weights) / nodes), weights[0] ?? 0));
      }),
      { seed, numRuns: 300 },
    );
  });

  it('of few files is the best there is, or nearly', () => {
    const few = fc
      .array(fc.integer({ min: 50, max: 150 }), { minLength: 1, maxLength: 9 })
      .map(weights => Float64Array.from(weights).sort().reverse());
    fc.assert(
      fc.property(few, fc.integer({ min: 1, max: 4 }), (weights, nodes) => {
        const least = leastMakespan(weights, nodes);
        expect(lowerBound(weights, nodes)).toBeLessThanOrEqual(least);
        expect(checkedPack(weights, nodes).makespan).toBe(least);
      }),
      { seed, numRuns: 300 },
    );
  });

  it('of a suite like real ones is within a ten-thousandth of the lower bound, for any number of nodes', () => {
    for (const files of [300, 2000]) {
      const weights = weightsOf(madeUpSuite(files, files).timings.values());
      for (let nodes = 2; nodes <= 200; nodes += 9) {
        const { makespan, lowerBound: bound } = checkedPack(weights, nodes);
        expect(makespan / bound, `${files} files, ${nodes} nodes`).toBeLessThan(1.0001);
      }
    }
  });

  it.each([
    ['a tenth apart', (random: () => number) => 9 + 2 * random()],
    ['a third apart', (random: () => number) => Math.exp(0.3 * normal(random))],
  ])('of few files %s is within 5 %% of the lower bound', (_, secondsOf) => {
    for (const perNode of [2.5, 3, 3.5, 4]) {
      for (let nodes = 6; nodes <= 50; nodes += 4) {
        const random = randomOf(nodes);
        const weights = weightsOf(Array.from({ length: Math.round(perNode * nodes) }, () => secondsOf(random)));
        const { makespan, lowerBound: bound } = checkedPack(weights, nodes);
        expect(makespan / bound, `${weights.length} files, ${nodes} nodes`).toBeLessThan(1.05);
      }
    }
  });

  it('is the same for the same list, at 100,000 files too', () => {
    const weights = weightsOf(madeUpSuite(1, 100_000).timings.values());
    expect(pack(weights, 200)).toEqual(pack(weights, 200));
    const alike = weightsOf(Array.from({ length: 600 }, (_, i) => 10 + Math.sin(i)));
    expect(pack(alike, 170)).toEqual(pack(alike, 170));
  });

  it('tells whether one file alone keeps the others waiting', () => {
    expect(pack(Float64Array.of(100, 10, 10), 2).isBoundByFile).toBe(true);
    expect(pack(Float64Array.of(20, 10, 10), 2).isBoundByFile).toBe(false);
    expect(pack(Float64Array.of(20, 20, 10, 10), 2).isBoundByFile).toBe(false);
  });

  it('leaves nodes beyond the files empty', () => {
    expect(pack(Float64Array.of(5, 3), 4).nodes).toEqual([[0], [1], [], []]);
    expect(pack(new Float64Array(0), 2)).toEqual({ nodes: [[], []], makespan: 0, lowerBound: 0, isBoundByFile: false });
  });

  it('does not take long where nodes and near-equal files are many', () => {
    const random = randomOf(5);
    const weights = weightsOf(Array.from({ length: 30_000 }, () => 9 + 2 * random()));
    const { makespan, lowerBound: bound } = checkedPack(weights, 10_000);
    expect(makespan / bound).toBeLessThan(1.02);
  });
});

describe('the lower bound', () => {
  it('knows that of more long files than nodes two share a node', () => {
    expect(lowerBound(Float64Array.of(10, 10, 10, 1), 2)).toBe(20);
    // Of seven files on three nodes, three share one.
    expect(lowerBound(Float64Array.of(9, 9, 9, 8, 8, 8, 8), 3)).toBe(24);
  });
});
