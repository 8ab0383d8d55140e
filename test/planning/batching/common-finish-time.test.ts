import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonFinishTime } from '../../../src/planning/batching/batch-weight.js';

const seed = 20_260_110;

const node = fc.record({
  speed: fc.double({ min: 0.1, max: 3, noNaN: true }),
  ready: fc.integer({ min: -10_000, max: 1_000_000 }),
});
const finishTime = (left: number, nodes: readonly { speed: number; ready: number }[]) =>
  commonFinishTime(
    left,
    nodes.length,
    Float64Array.from(nodes, ({ speed }) => speed),
    Float64Array.from(nodes, ({ ready }) => ready),
  );

describe('the common finish time', () => {
  it('is when all nodes together have done exactly the remaining work', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.array(node, { minLength: 1, maxLength: 60 }), (left, nodes) => {
        const end = finishTime(left, nodes);
        const done = nodes.reduce((sum, { speed, ready }) => sum + speed * Math.max(0, end - ready), 0);
        expect(Math.abs(done / left - 1)).toBeLessThan(1e-6);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('is found in spite of rounding of large times', () => {
    const large = fc.record({
      speed: fc.double({ min: 0.06, max: 15, noNaN: true }),
      ready: fc.oneof(fc.integer({ min: 1e14, max: 1e14 + 5 }), fc.double({ min: 0, max: 1e15, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.array(large, { minLength: 1, maxLength: 60 }), (left, nodes) => {
        const end = finishTime(left, nodes);
        expect(end).toBeGreaterThanOrEqual(Math.min(...nodes.map(({ ready }) => ready)) * (1 - 1e-12));
        expect(end).toBeLessThan(1e15 + 1e5);
      }),
      { seed, numRuns: 1000 },
    );
  });

  it('of one node is when it has done all the work', () => {
    expect(finishTime(100, [{ speed: 1, ready: 20 }])).toBe(120);
    expect(finishTime(100, [{ speed: 2, ready: 20 }])).toBe(70);
  });

  it('ignores nodes that are ready too late to help', () => {
    const two = [0, 10].map(ready => ({ speed: 1, ready }));
    expect(finishTime(30, two)).toBe(20);
    expect(finishTime(30, [...two, { speed: 1, ready: 20 }, { speed: 1.5, ready: 1e15 }])).toBe(20);
  });
});
