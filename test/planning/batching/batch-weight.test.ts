import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchWeight } from '../../../src/planning/batching/batch-weight.js';

const seed = 20_260_103;

const outlook = fc.record({
  nodeTotal: fc.integer({ min: 2, max: 500 }),
  isGuessed: fc.boolean(),
});
const claim = fc
  .record({
    left: fc.integer({ min: 1, max: 1_000_000_000 }),
    part: fc.double({ min: 0.001, max: 1, noNaN: true }),
    batches: fc.nat(20),
    pullCost: fc.integer({ min: 0, max: 1_000_000 }),
  })
  .map(({ part, ...rest }) => ({ ...rest, share: part * rest.left }));

describe('the size of a batch', () => {
  it('is positive, and of known files never more than the node’s share', () => {
    fc.assert(
      fc.property(claim, outlook, (given, known) => {
        const weight = batchWeight(given, known);
        expect(weight).toBeGreaterThan(0);
        if (!known.isGuessed) expect(weight).toBeLessThanOrEqual(given.share);
      }),
      { seed, numRuns: 500 },
    );
  });

  it('leaves enough of the share to be worth more pulls, or nothing', () => {
    fc.assert(
      fc.property(claim, outlook, (given, known) => {
        fc.pre(!known.isGuessed);
        const rest = given.share - batchWeight(given, known);
        if (rest > 0) expect(rest).toBeGreaterThanOrEqual(3 * given.pullCost);
      }),
      { seed, numRuns: 500 },
    );
  });

  const claimed = { share: 1_000_000, batches: 1, left: 8_000_000, pullCost: 20_000 };
  const known = { nodeTotal: 8, isGuessed: false };

  it('is smaller while most times are only guessed', () => {
    expect(batchWeight(claimed, { ...known, isGuessed: true })).toBeLessThan(batchWeight(claimed, known) / 3);
  });

  it('is worth a pull while most times are only guessed, unless that is much of what a node has to do', () => {
    const outlook = { nodeTotal: 8, isGuessed: true };
    expect(batchWeight({ ...claimed, share: 10_000, left: 800_000 }, outlook)).toBe(20_000);
    expect(batchWeight({ ...claimed, share: 10_000, left: 80_000 }, outlook)).toBe(2500);
  });

  it('is all that is left for the only node', () => {
    for (const isGuessed of [true, false]) expect(batchWeight(claimed, { nodeTotal: 1, isGuessed })).toBe(8_000_000);
  });

  it('is the whole share for a node that came often enough', () => {
    expect(batchWeight({ ...claimed, batches: 5 }, known)).toBe(600_000);
    expect(batchWeight({ ...claimed, batches: 6 }, known)).toBe(1_000_000);
  });
});
