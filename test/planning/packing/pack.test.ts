import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normal, seededRandom } from '../../../bench/random.js';
import { syntheticSuite } from '../../../bench/suites/synthetic.js';
import { type Packing, pack } from '../../../src/planning/packing/pack.js';
import { toWeight } from '../../../src/planning/weight.js';

const seed = 20_260_101;

const descending = (weights: Iterable<number>) => Float64Array.from(weights).sort().reverse();

const suite = (maxFiles: number) =>
  fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 100_000 })), { maxLength: maxFiles }).map(descending);

const madeUp = (suiteSeed: number, files: number) => descending(Array.from(syntheticSuite(suiteSeed, files).timings.values(), toWeight));

/** Files of about the same length. */
const nearEqual = (suiteSeed: number, files: number, sigma: number) => {
  const random = seededRandom(suiteSeed);
  return descending(Array.from({ length: files }, () => toWeight(20 * Math.exp(sigma * normal(random)))));
};

const sum = (weights: Iterable<number>) => [...weights].reduce((total, weight) => total + weight, 0);

/** What splits are measured against: the average, or the longest file. */
const simpleBound = (weights: Float64Array, nodes: number) => Math.max(sum(weights) / nodes, weights[0] ?? 0);

const loadsOf = (weights: Float64Array, { nodes }: Packing) => nodes.map(files => sum(files.map(file => weights[file]!)));

/** The least possible load of the fullest node, by trying everything. */
function best(weights: Float64Array, nodes: number): number {
  const loads = new Float64Array(nodes);
  let least = Infinity;
  const place = (file: number, fullest: number) => {
    if (fullest >= least) return;
    if (file === weights.length) {
      least = fullest;
      return;
    }
    for (let node = 0; node < nodes; node++) {
      loads[node]! += weights[file]!;
      place(file + 1, Math.max(fullest, loads[node]!));
      loads[node]! -= weights[file]!;
      if (loads[node] === 0) break;
    }
  };
  place(0, 0);
  return least;
}

/** The makespan of longest processing time first, without a heap. */
function longestFirst(weights: Float64Array, nodes: number): number {
  const loads = new Array<number>(nodes).fill(0);
  for (const weight of weights) loads[loads.indexOf(Math.min(...loads))]! += weight;
  return Math.max(...loads);
}

function expectWhole(weights: Float64Array, nodes: number, packing: Packing): void {
  expect(packing.nodes.length).toBe(nodes);
  expect(packing.nodes.flat().sort((a, b) => a - b)).toEqual([...weights.keys()]);
  expect(packing.nodes.every(files => files.every((file, i) => i === 0 || files[i - 1]! < file))).toBe(true);
  expect(packing.makespan).toBe(Math.max(...loadsOf(weights, packing)));
}

describe('any list of files', () => {
  it('is given out once, each node slowest first, and the makespan is the load of the fullest', () => {
    fc.assert(
      fc.property(suite(300), fc.integer({ min: 1, max: 40 }), (weights, nodes) => {
        expectWhole(weights, nodes, pack(weights, nodes));
      }),
      { seed, numRuns: 200 },
    );
  });

  it('is given out once also where it takes many steps', () => {
    // So many near-equal files a node that only some of two nodes' can be divided anew at once.
    const alike = fc.array(fc.integer({ min: 90_000, max: 110_000 }), { minLength: 20, maxLength: 150 }).map(descending);
    fc.assert(
      fc.property(alike, fc.integer({ min: 2, max: 9 }), (weights, nodes) => {
        expectWhole(weights, nodes, pack(weights, nodes));
      }),
      { seed, numRuns: 50 },
    );
  });

  it('is bounded by the average and the longest file at least', () => {
    fc.assert(
      fc.property(suite(300), fc.integer({ min: 1, max: 40 }), (weights, nodes) => {
        const { makespan, lowerBound } = pack(weights, nodes);
        expect(makespan).toBeGreaterThanOrEqual(lowerBound);
        expect(lowerBound).toBeGreaterThanOrEqual(Math.max(Math.ceil(sum(weights) / nodes), weights[0] ?? 0));
      }),
      { seed, numRuns: 200 },
    );
  });

  it('is never split worse than by giving each file to the emptiest node', () => {
    fc.assert(
      fc.property(suite(200), fc.integer({ min: 1, max: 25 }), (weights, nodes) => {
        expect(pack(weights, nodes).makespan).toBeLessThanOrEqual(longestFirst(weights, nodes));
      }),
      { seed, numRuns: 200 },
    );
  });

  it('is split the same way every time', () => {
    fc.assert(
      fc.property(suite(200), fc.integer({ min: 1, max: 20 }), (weights, nodes) => {
        expect(pack(Float64Array.from(weights), nodes)).toEqual(pack(weights, nodes));
      }),
      { seed, numRuns: 50 },
    );
  });
});

describe('a list of few files', () => {
  it('is split as well as possible, and its bound is none too high', () => {
    fc.assert(
      fc.property(suite(9), fc.integer({ min: 1, max: 4 }), (weights, nodes) => {
        const { makespan, lowerBound } = pack(weights, nodes);
        expect(makespan).toBe(best(weights, nodes));
        expect(lowerBound).toBeLessThanOrEqual(makespan);
      }),
      { seed, numRuns: 300 },
    );
  });

  it('is split within 1.03 of the bound when they are about as long as each other', () => {
    for (const nodes of [7, 16, 40]) {
      for (const filesPerNode of [2.5, 3, 3.5, 4]) {
        for (const sigma of [0.1, 0.3]) {
          const weights = nearEqual(nodes, Math.round(nodes * filesPerNode), sigma);
          const { makespan, lowerBound } = pack(weights, nodes);
          expect(makespan / lowerBound).toBeLessThan(1.03);
        }
      }
    }
  });

  it('is proved to be split best when one node must have a file more than the others', () => {
    // 3 nodes have 3 of the 7 files at least: 30 > 70 / 3.
    const { makespan, lowerBound } = pack(new Float64Array(7).fill(10), 3);
    expect([makespan, lowerBound]).toEqual([30, 30]);
  });

  it('is proved to be split best when times are rounded to seconds', () => {
    // 55,000 each would be even, but takes half a second.
    const { makespan, lowerBound } = pack(Float64Array.of(30_000, 20_000, 20_000, 20_000, 20_000), 2);
    expect([makespan, lowerBound]).toEqual([60_000, 60_000]);
  });
});

describe('a suite like real ones', () => {
  it.each([50, 300, 2000])('of %i files is split within 1.0001 of the average or its longest file', files => {
    for (const nodes of [2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200]) {
      const weights = madeUp(files, files);
      expect(pack(weights, nodes).makespan / simpleBound(weights, nodes)).toBeLessThanOrEqual(1.0001);
    }
  });

  it('of 100,000 files is whole, evenly split, and the same every time', () => {
    const weights = madeUp(1, 100_000);
    const packing = pack(weights, 200);
    expectWhole(weights, 200, packing);
    expect(packing.makespan / simpleBound(weights, 200)).toBeLessThanOrEqual(1.0001);
    expect(pack(weights, 200)).toEqual(packing);
  });

  it('with as many nodes as can be asked for is split in a bounded time', () => {
    const weights = nearEqual(1, 30_000, 0.05);
    const packing = pack(weights, 10_000);
    expectWhole(weights, 10_000, packing);
    expect(packing.makespan / packing.lowerBound).toBeLessThan(1.02);
  });
});

describe('the edges', () => {
  it('gives all files to a single node', () => {
    const packing = pack(Float64Array.of(5, 3, 3), 1);
    expect(packing).toEqual({ nodes: [[0, 1, 2]], makespan: 11, lowerBound: 11, isBoundByFile: false });
  });

  it('gives nothing to anybody when there are no files', () => {
    const packing = pack(new Float64Array(0), 3);
    expect(packing).toEqual({ nodes: [[], [], []], makespan: 0, lowerBound: 0, isBoundByFile: false });
  });

  it('leaves nodes empty when there are more than files', () => {
    fc.assert(
      fc.property(suite(20), fc.integer({ min: 1, max: 20 }), (weights, more) => {
        const { nodes, makespan } = pack(weights, weights.length + more);
        expect(makespan).toBe(weights[0] ?? 0);
        expect(nodes.filter(files => files.length === 0).length).toBeGreaterThanOrEqual(more);
      }),
      { seed, numRuns: 100 },
    );
  });

  it('takes files of the greatest weights and number', () => {
    const weight = toWeight(Infinity);
    const { makespan, lowerBound } = pack(new Float64Array(200_000).fill(weight), 777);
    expect([makespan, lowerBound]).toEqual([258 * weight, 258 * weight]);
  });
});

describe('a split is bound by a file', () => {
  it('when the other nodes wait for it', () => {
    expect(pack(Float64Array.of(10, 3, 3, 3), 2).isBoundByFile).toBe(true);
    expect(pack(Float64Array.of(10, 10, 9), 3).isBoundByFile).toBe(true);
  });

  it('not when all nodes end with it', () => {
    expect(pack(Float64Array.of(9, 3, 3, 3), 2).isBoundByFile).toBe(false);
    expect(pack(Float64Array.of(9, 9), 2).isBoundByFile).toBe(false);
  });

  it('not when a node with several files ends last', () => {
    expect(pack(Float64Array.of(5, 4, 4), 2).isBoundByFile).toBe(false);
  });
});
