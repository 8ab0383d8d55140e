import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlayedNodes, playNodes, playParts, playQueue, playSplit } from '../../../../src/engine/insight/what-if/play.js';
import { toWeight } from '../../../../src/planning/weight.js';

const usual = (starts: readonly number[], pullCost = 0): PlayedNodes => ({
  starts: Float64Array.from(starts),
  speeds: new Float64Array(starts.length).fill(1),
  pullCost,
});

const exact = (seconds: readonly number[]) => ({ weights: Float64Array.from(seconds, toWeight), seconds: Float64Array.from(seconds) });

describe('nodes that take files until there are none', () => {
  it('take them in the order in which they are free, and the lower index first', () => {
    const order: [number, number][] = [];
    let next = 0;
    const played = playNodes(Float64Array.of(3, 1, 1, 1), usual([0, 0, 10], 1), (node, at) => {
      order.push([node, at]);
      return next < 4 ? [next++] : [];
    });
    expect(order).toEqual([
      [0, 0],
      [1, 0],
      [1, 2],
      [0, 4],
      [1, 4],
      [0, 6],
      [2, 10],
    ]);
    expect(played).toEqual({ wall: 6, nodeSeconds: 12, ends: Float64Array.of(6, 4, 10) });
  });

  it('run them as fast as they are', () => {
    const nodes = { ...usual([0, 0]), speeds: Float64Array.of(0.5, 2) };
    expect([...playParts(Float64Array.of(3, 3), nodes, [[0], [1]]).ends]).toEqual([6, 1.5]);
  });
});

describe('a played queue', () => {
  it('ends as soon as possible when estimates are exact and pulls cost nothing', () => {
    const suite = exact(Array.from({ length: 400 }, (_, i) => 8 - i * 0.0175));
    const total = suite.seconds.reduce((sum, each) => sum + each, 0);
    const { wall } = playQueue(suite, usual([0, 0, 0, 0]), { nodeTotal: 4, pullCost: toWeight(0.01), isGuessed: false });
    expect(wall).toBeGreaterThanOrEqual(total / 4);
    expect(wall).toBeLessThan((total / 4) * 1.005);
  });

  it('runs every file once, whatever the nodes', () => {
    const seconds = fc.array(fc.double({ min: 0.1, max: 60, noNaN: true }), { minLength: 1, maxLength: 60 });
    const starts = fc.array(fc.double({ min: 0, max: 60, noNaN: true }), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(seconds, starts, (times, offsets) => {
        const suite = exact(times.sort((a, b) => b - a));
        const nodes = usual(offsets);
        const { ends, wall } = playQueue(suite, nodes, { nodeTotal: offsets.length, pullCost: 20_000, isGuessed: false });
        const work = ends.reduce((sum, end, node) => sum + end - offsets[node]!, 0);
        expect(work).toBeCloseTo(
          times.reduce((sum, each) => sum + each, 0),
          6,
        );
        expect(wall).toBeLessThanOrEqual(Math.max(...ends));
      }),
    );
  });
});

describe('a played split', () => {
  it('is planned with the estimates, and takes the seconds', () => {
    const suite = { weights: Float64Array.of(4, 3, 2, 1).map(toWeight), seconds: Float64Array.of(9, 3, 2, 1) };
    expect([...playSplit(suite, usual([0, 0], 1)).ends].sort((a, b) => a - b)).toEqual([6, 11]);
  });
});
