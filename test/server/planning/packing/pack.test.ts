import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Packing, pack } from '../../../../src/server/planning/packing/pack.js';
import { toWeight } from '../../../../src/server/planning/weight.js';
import { normal, seededRandom } from '../../../testbed/random.js';
import { syntheticSuite } from '../../../testbed/synthetic.js';

const seed = 20_260_101;

const descending = (weights: Iterable<number>) => Float64Array.from(weights).sort().reverse();

const suite = (maxFiles: number) =>
  fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 100_000 })), { maxLength: maxFiles }).map(descending);

const generated = (suiteSeed: number, files: number) => descending(Array.from(syntheticSuite(suiteSeed, files).timings.values(), toWeight));

/** Files of about the same length. */
const nearEqual = (suiteSeed: number, files: number, sigma: number) => {
  const random = seededRandom(suiteSeed);
  return descending(Array.from({ length: files }, () => toWeight(20 * Math.exp(sigma * normal(random)))));
};

const sum = (weights: Iterable<number>) => [...weights].reduce((total, weight) => total + weight, 0);

/** The average load, or the longest file. */
const simpleBound = (weights: Float64Array, nodes: number) => Math.max(sum(weights) / nodes, weights[0] ?? 0);

const loadsOf = (weights: Float64Array, { nodes }: Packing) => nodes.map(files => sum(files.map(file => weights[file]!)));

/** The smallest possible makespan, by exhaustive search. */
function optimum(weights: Float64Array, nodes: number): number {
  const loads = new Float64Array(nodes);
  let smallest = Infinity;
  const place = (file: number, makespan: number) => {
    if (makespan >= smallest) return;
    if (file === weights.length) {
      smallest = makespan;
      return;
    }
    for (let node = 0; node < nodes; node++) {
      loads[node]! += weights[file]!;
      place(file + 1, Math.max(makespan, loads[node]!));
      loads[node]! -= weights[file]!;
      if (loads[node] === 0) break;
    }
  };
  place(0, 0);
  return smallest;
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
  it('is assigned once, slowest first on each node, no worse than by longest first, and the same way every time', () => {
    fc.assert(
      fc.property(suite(300), fc.integer({ min: 1, max: 40 }), (weights, nodes) => {
        const packing = pack(weights, nodes);
        expectWhole(weights, nodes, packing);
        const { makespan, lowerBound } = packing;
        expect(makespan).toBeGreaterThanOrEqual(lowerBound);
        expect(lowerBound).toBeGreaterThanOrEqual(Math.max(Math.ceil(sum(weights) / nodes), weights[0] ?? 0));
        expect(makespan).toBeLessThanOrEqual(longestFirst(weights, nodes));
        expect(pack(Float64Array.from(weights), nodes)).toEqual(packing);
      }),
      { seed, numRuns: 150 },
    );
  });

  it('is assigned once even if that takes many steps', () => {
    // Two nodes have more similar files than one subset search takes.
    const similar = fc.array(fc.integer({ min: 90_000, max: 110_000 }), { minLength: 20, maxLength: 150 }).map(descending);
    fc.assert(
      fc.property(similar, fc.integer({ min: 2, max: 9 }), (weights, nodes) => {
        expectWhole(weights, nodes, pack(weights, nodes));
      }),
      { seed, numRuns: 50 },
    );
  });
});

describe('a list of few files', () => {
  it('is split optimally, and its bound is not above that', () => {
    fc.assert(
      fc.property(suite(9), fc.integer({ min: 1, max: 4 }), (weights, nodes) => {
        const { makespan, lowerBound } = pack(weights, nodes);
        expect(makespan).toBe(optimum(weights, nodes));
        expect(lowerBound).toBeLessThanOrEqual(makespan);
      }),
      { seed, numRuns: 150 },
    );
  });

  it('is split within 1.03 of the bound when they are of similar length', () => {
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

  it.each<[when: string, nodes: number, weights: number[], makespan: number]>([
    // One of 3 nodes has at least 3 of the 7 files: 30 > 70 / 3.
    ['one node must have one file more', 3, Array<number>(7).fill(10), 30],
    // An even split would be 55,000 each, which is no multiple of a second.
    ['times are rounded to seconds', 2, [30_000, 20_000, 20_000, 20_000, 20_000], 60_000],
  ])('has the makespan as its bound when %s', (_, nodes, weights, expected) => {
    const { makespan, lowerBound } = pack(Float64Array.from(weights), nodes);
    expect([makespan, lowerBound]).toEqual([expected, expected]);
  });
});

describe('a realistic suite', () => {
  it.each([50, 300, 2000])('of %i files is split within 1.0001 of the average or its longest file', files => {
    for (const nodes of [2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200]) {
      const weights = generated(files, files);
      expect(pack(weights, nodes).makespan / simpleBound(weights, nodes)).toBeLessThanOrEqual(1.0001);
    }
  });

  it('of 100,000 files is split completely, evenly, and the same way every time', () => {
    const weights = generated(1, 100_000);
    const packing = pack(weights, 200);
    expectWhole(weights, 200, packing);
    expect(packing.makespan / simpleBound(weights, 200)).toBeLessThanOrEqual(1.0001);
    expect(pack(weights, 200)).toEqual(packing);
  });

  it('is split in a bounded time on the largest number of nodes', () => {
    const weights = nearEqual(1, 30_000, 0.05);
    const packing = pack(weights, 10_000);
    expectWhole(weights, 10_000, packing);
    expect(packing.makespan / packing.lowerBound).toBeLessThan(1.02);
  });
});

describe('the limits', () => {
  it.each<[what: string, weights: number[], nodes: number[][], makespan: number]>([
    ['give all files to a single node', [5, 3, 3], [[0, 1, 2]], 11],
    ['give no node anything when there are no files', [], [[], [], []], 0],
  ])('%s', (_, weights, nodes, makespan) => {
    expect(pack(Float64Array.from(weights), nodes.length)).toEqual({ nodes, makespan, lowerBound: makespan, isBoundByFile: false });
  });

  it('leave nodes empty when there are more nodes than files', () => {
    fc.assert(
      fc.property(suite(20), fc.integer({ min: 1, max: 20 }), (weights, more) => {
        const { nodes, makespan } = pack(weights, weights.length + more);
        expect(makespan).toBe(weights[0] ?? 0);
        expect(nodes.filter(files => files.length === 0).length).toBeGreaterThanOrEqual(more);
      }),
      { seed, numRuns: 100 },
    );
  });

  it('include the largest weights and the largest number of files', () => {
    const weight = toWeight(Infinity);
    const { makespan, lowerBound } = pack(new Float64Array(200_000).fill(weight), 777);
    expect([makespan, lowerBound]).toEqual([258 * weight, 258 * weight]);
  });
});

it.each<[bound: boolean, when: string, nodes: number, weights: number[]]>([
  [true, 'the other nodes wait for it', 2, [10, 3, 3, 3]],
  [true, 'one of them has as long a file', 3, [10, 10, 9]],
  [false, 'all nodes finish with it', 2, [9, 3, 3, 3]],
  [false, 'all nodes have as long a file', 2, [9, 9]],
  [false, 'a node with several files finishes last', 2, [5, 4, 4]],
])('it is %s that a split is bound by a file when %s', (bound, _, nodes, weights) => {
  expect(pack(Float64Array.from(weights), nodes).isBoundByFile).toBe(bound);
});
