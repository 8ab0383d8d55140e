import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack } from '../../src/plan/pack.js';

const seed = 20_260_101;

/** Milliseconds, whole: sums are exact. */
const suite = (maxFiles: number) =>
  fc
    .array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 100_000 })), { maxLength: maxFiles })
    .map(weights => Float64Array.from(weights.sort((a, b) => b - a)));

const loadsOf = (weights: Float64Array, packed: number[][]) =>
  packed.map(files => files.reduce((sum, file) => sum + weights[file]!, 0));

const sum = (weights: Float64Array) => weights.reduce((total, weight) => total + weight, 0);

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

/** Longest processing time first without a heap. */
function longestFirst(weights: Float64Array, nodes: number): number {
  const loads = new Array<number>(nodes).fill(0);
  for (const weight of weights) {
    const emptiest = loads.indexOf(Math.min(...loads));
    loads[emptiest]! += weight;
  }
  return Math.max(...loads);
}

describe('packing', () => {
  it('gives every file to exactly one node, each node slowest first', () => {
    fc.assert(
      fc.property(suite(300), fc.integer({ min: 1, max: 40 }), (weights, nodes) => {
        const packed = pack(weights, nodes);
        expect(packed.length).toBe(nodes);
        expect(packed.flat().sort((a, b) => a - b)).toEqual([...weights.keys()]);
        for (const files of packed) {
          for (let i = 1; i < files.length; i++) {
            expect(weights[files[i - 1]!]).toBeGreaterThanOrEqual(weights[files[i]!]!);
          }
        }
      }),
      { seed, numRuns: 300 },
    );
  });

  it('is within 4/3 - 1/(3 nodes) of the best possible split', () => {
    fc.assert(
      fc.property(suite(9), fc.integer({ min: 1, max: 4 }), (weights, nodes) => {
        const fullest = Math.max(...loadsOf(weights, pack(weights, nodes)));
        expect(fullest).toBeLessThanOrEqual((4 / 3 - 1 / (3 * nodes)) * best(weights, nodes) + 1e-9);
      }),
      { seed, numRuns: 500 },
    );
  });

  it('leaves no node fuller than the average and one more file', () => {
    fc.assert(
      fc.property(suite(500), fc.integer({ min: 1, max: 60 }), (weights, nodes) => {
        const fullest = Math.max(...loadsOf(weights, pack(weights, nodes)));
        const longest = weights[0] ?? 0;
        expect(fullest).toBeLessThanOrEqual(sum(weights) / nodes + longest * (1 - 1 / nodes) + 1e-6);
      }),
      { seed, numRuns: 300 },
    );
  });

  it('is within 4/3 - 1/(3 nodes) of the lower bound when no file is longer than a third of it', () => {
    fc.assert(
      fc.property(suite(400), fc.integer({ min: 1, max: 30 }), (weights, nodes) => {
        const bound = Math.max(sum(weights) / nodes, weights[0] ?? 0);
        fc.pre((weights[0] ?? 0) <= bound / 3);
        const fullest = Math.max(...loadsOf(weights, pack(weights, nodes)));
        expect(fullest).toBeLessThanOrEqual((4 / 3 - 1 / (3 * nodes)) * bound + 1e-6);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('is never worse than the emptiest node taking the next longest file', () => {
    fc.assert(
      fc.property(suite(200), fc.integer({ min: 1, max: 25 }), (weights, nodes) => {
        const fullest = Math.max(...loadsOf(weights, pack(weights, nodes)));
        expect(fullest).toBeLessThanOrEqual(longestFirst(weights, nodes));
      }),
      { seed, numRuns: 300 },
    );
  });

  it('lets the longest file alone decide when there are more nodes than files', () => {
    fc.assert(
      fc.property(suite(20), fc.integer({ min: 0, max: 20 }), (weights, more) => {
        const packed = pack(weights, weights.length + more + 1);
        expect(Math.max(...loadsOf(weights, packed))).toBe(weights[0] ?? 0);
        expect(packed.filter(files => files.length === 0).length).toBeGreaterThanOrEqual(more + 1);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('packs the same files the same way every time', () => {
    fc.assert(
      fc.property(suite(200), fc.integer({ min: 1, max: 20 }), (weights, nodes) => {
        expect(pack(Float64Array.from(weights), nodes)).toEqual(pack(weights, nodes));
      }),
      { seed, numRuns: 100 },
    );
  });

  it('gives all files to a single node, and nothing to anybody when there are none', () => {
    expect(pack(Float64Array.of(5, 3, 3), 1)).toEqual([[0, 1, 2]]);
    expect(pack(new Float64Array(0), 3)).toEqual([[], [], []]);
  });
});
