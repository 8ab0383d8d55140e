import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchWeight } from '../../../src/planning/batching/batch-weight.js';

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
  })
  .map(({ part, ...rest }) => ({ ...rest, share: part * rest.remaining }));

describe('the weight of a batch', () => {
  it('is positive, at most the node’s share, and leaves a rest that is worth three pulls or nothing, unless times are guesses', () => {
    fc.assert(
      fc.property(situation, parameters, (at, queue) => {
        const weight = batchWeight(at, queue);
        expect(weight).toBeGreaterThan(0);
        if (queue.isGuessed) return;
        expect(weight).toBeLessThanOrEqual(at.share);
        const rest = at.share - weight;
        if (rest > 0) expect(rest).toBeGreaterThanOrEqual(3 * at.pullCost);
      }),
      { seed, numRuns: 500 },
    );
  });

  const pull = { share: 1_000_000, batches: 1, remaining: 8_000_000, pullCost: 20_000 };
  const queue = { nodeTotal: 8, isGuessed: false };
  const guessed = { nodeTotal: 8, isGuessed: true };

  it('is smaller while most times are guesses', () => {
    expect(batchWeight(pull, { ...queue, isGuessed: true })).toBeLessThan(batchWeight(pull, queue) / 3);
  });

  it('is at least a pull while most times are guesses, unless few files remain', () => {
    expect(batchWeight({ ...pull, share: 10_000, remaining: 800_000 }, guessed)).toBe(20_000);
    expect(batchWeight({ ...pull, share: 10_000, remaining: 80_000 }, guessed)).toBe(2500);
  });

  it('is that of all remaining files for the only node', () => {
    for (const isGuessed of [true, false]) expect(batchWeight(pull, { nodeTotal: 1, isGuessed })).toBe(8_000_000);
  });

  it('is the whole share after enough batches', () => {
    expect(batchWeight({ ...pull, batches: 5 }, queue)).toBe(600_000);
    expect(batchWeight({ ...pull, batches: 6 }, queue)).toBe(1_000_000);
  });
});
