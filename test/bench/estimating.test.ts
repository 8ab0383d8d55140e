import { describe, expect, it } from 'vitest';
import { estimating } from '../../bench/estimating.js';
import { syntheticHistory } from '../../bench/suites/synthetic.js';

describe('the benchmark of estimates', () => {
  it('shows a smaller error for Ballast than for the last time, on a synthetic history', () => {
    const [errors, splits, newFiles] = estimating([syntheticHistory(1, 60, 12, 3)], { builds: 60, files: 20 });
    expect(errors!.rows).toHaveLength(7);
    const [ours, last] = errors!.rows.map(row => row.slice(1).map(cell => parseFloat(cell)));
    for (const [column, error] of ours!.entries()) expect(error).toBeLessThan(last![column]!);
    expect(splits!.rows.map(([name]) => name)).toContain('the next times themselves');
    expect(newFiles!.rows).toHaveLength(4);
    for (const row of [...splits!.rows, ...newFiles!.rows]) expect(Number(row[1])).toBeGreaterThanOrEqual(1);
  });
});
