import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchWeight } from '../../../../src/server/planning/batching/batch-weight.js';

const seed = 20_260_103;

const parameters = fc.record({
  nodeTotal: fc.integer({ min: 2, max: 500 }),
  isGuessed: fc.boolean(),
});
const situation = fc
  .record({
    remaining: fc.integer({ min: 1, max: 1_000_000_000 }),
    part: fc.double({ min: 0.001, max: 1, noNaN: true }),
    batches: fc.nat(20),
    pullCost: fc.integer({ min: 0, max: 1_000_000 }),
    hasMeasured: fc.constantFrom(true, false, null),
  })
  .map(({ part, ...rest }) => ({ ...rest, share: part * rest.remaining }));

describe('the weight of a batch', () => {
  it('is positive, at most the node’s share, and leaves a rest that is worth three pulls or nothing, unless times are guesses', () => {
    fc.assert(
      fc.property(situation, parameters, (at, queue) => {
        const weight = batchWeight(at, queue);
        expect(weight).toBeGreaterThan(0);
        expect(weight).toBeLessThanOrEqual(at.share);
        if (queue.isGuessed) return;
        const rest = at.share - weight;
        if (rest > 0) expect(rest).toBeGreaterThanOrEqual(3 * at.pullCost);
      }),
      { seed, numRuns: 500 },
    );
  });

  const pull = { share: 1_000_000, batches: 1, remaining: 8_000_000, pullCost: 20_000, hasMeasured: true };
  const queue = { nodeTotal: 8, isGuessed: false };

  it.each([
    ['a part of the share', {}, 550_000],
    ['worth two pulls, where a pull costs much', { pullCost: 400_000 }, 800_000],
    ['the whole share, where two pulls cost more', { pullCost: 600_000 }, 1_000_000],
    ['less, before a batch has ended', { pullCost: 400_000, hasMeasured: false }, 300_000],
    ['less, where nodes run nothing', { hasMeasured: null }, 150_000],
  ])('while most times are guesses is %s', (_, changed, weight) => {
    expect(batchWeight({ ...pull, ...changed }, { ...queue, isGuessed: true })).toBeCloseTo(weight, -3);
  });

  it('is that of all remaining files for the only node', () => {
    for (const isGuessed of [true, false]) expect(batchWeight(pull, { nodeTotal: 1, isGuessed })).toBe(8_000_000);
  });

  it('is the whole share after enough batches', () => {
    expect(batchWeight({ ...pull, batches: 5 }, queue)).toBe(600_000);
    expect(batchWeight({ ...pull, batches: 6 }, queue)).toBe(1_000_000);
  });
});
