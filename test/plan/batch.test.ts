import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchSeconds, type QueueOutlook } from '../../src/plan/batch.js';

const seed = 20_260_103;

const outlook = fc.record({
  total: fc.double({ min: 0.001, max: 100_000, noNaN: true }),
  part: fc.double({ min: 0, max: 1, noNaN: true }),
  nodeTotal: fc.integer({ min: 1, max: 500 }),
  pullCost: fc.double({ min: 0.01, max: 600, noNaN: true }),
  measured: fc.boolean(),
});

const toOutlook = ({ part, ...rest }: Omit<QueueOutlook, 'left'> & { part: number }): QueueOutlook => ({
  ...rest,
  left: rest.total * part,
});

describe('the size of a batch', () => {
  it('is positive and never more than a fair share of the whole queue', () => {
    fc.assert(
      fc.property(outlook, given => {
        const size = batchSeconds(toOutlook(given));
        expect(size).toBeGreaterThan(0);
        expect(size).toBeLessThanOrEqual(given.total / given.nodeTotal);
      }),
      { seed, numRuns: 500 },
    );
  });

  it('never grows as the queue drains', () => {
    fc.assert(
      fc.property(outlook, fc.double({ min: 0, max: 1, noNaN: true }), (given, drained) => {
        const later = toOutlook({ ...given, part: given.part * drained });
        expect(batchSeconds(later)).toBeLessThanOrEqual(batchSeconds(toOutlook(given)));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('is smaller while the times are only guessed', () => {
    fc.assert(
      fc.property(outlook, given => {
        const guessed = batchSeconds(toOutlook({ ...given, measured: false }));
        expect(guessed).toBeLessThanOrEqual(batchSeconds(toOutlook({ ...given, measured: true })));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('is worth the cost of a pull in a queue that is long enough', () => {
    fc.assert(
      fc.property(outlook, given => {
        fc.pre(given.total / given.nodeTotal > 12 * given.pullCost);
        expect(batchSeconds(toOutlook(given))).toBeGreaterThanOrEqual(given.pullCost);
      }),
      { seed, numRuns: 500 },
    );
  });
});
