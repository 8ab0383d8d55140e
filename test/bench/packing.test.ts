import { describe, expect, it } from 'vitest';
import { packing } from '../../bench/packing.js';
import { syntheticSuite } from '../../bench/suites/synthetic.js';

describe('the benchmark of splits', () => {
  it('shows that no other algorithm beats Ballast, on synthetic suites', () => {
    const suites = [1, 2].map(seed => syntheticSuite(seed, 120));
    const [suiteSplits, nearEqual, cost] = packing(suites, { step: 40, sizes: [[500, 8]] });
    for (const { rows } of [suiteSplits!, nearEqual!]) {
      expect(rows).toHaveLength(7);
      for (const column of [1, 2, 3]) {
        const [ours, ...others] = rows.map(row => Number(row[column]));
        expect(ours).toBeGreaterThanOrEqual(1);
        for (const other of others) expect(ours).toBeLessThanOrEqual(other);
      }
    }
    expect(cost!.rows).toHaveLength(1);
  });
});
