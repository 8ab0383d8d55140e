import { describe, expect, it } from 'vitest';
import { planning } from '../../bench/planning.js';
import { syntheticHistory, syntheticSuite } from '../../bench/suites/synthetic.js';

describe('the benchmark of queues', () => {
  it('shows that Ballast beats the other policies, on synthetic suites', () => {
    const suites = [1, 2].map(seed => syntheticSuite(seed, 500));
    const histories = [syntheticHistory(3, 100, 4, 7)];
    const [evenness, recorded, robustness, cost] = planning(suites, histories, { queues: [[1000, 16]] });
    expect(evenness!.rows).toHaveLength(6);
    for (const column of [1, 2, 3]) {
      const [ours, ...others] = evenness!.rows.map(row => parseFloat(row[column]!));
      expect(ours).toBeGreaterThanOrEqual(1);
      for (const other of others) expect(ours).toBeLessThan(other);
    }
    expect(recorded!.rows).toHaveLength(6);
    for (const cell of recorded!.rows[0]!.slice(1)) expect(Number(cell)).toBeGreaterThanOrEqual(1);
    expect(robustness!.rows.flat()).not.toContain('-');
    expect(cost!.rows).toHaveLength(1);
  });
});
