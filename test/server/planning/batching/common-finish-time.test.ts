import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonFinishTime } from '../../../../src/server/planning/batching/batch-weight.js';

const seed = 20_260_110;

const finishTime = (left: number, nodes: readonly { speed: number; ready: number }[]) =>
  commonFinishTime(
    left,
    nodes.length,
    Float64Array.from(nodes, ({ speed }) => speed),
    Float64Array.from(nodes, ({ ready }) => ready),
  );

describe('the common finish time', () => {
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
});
