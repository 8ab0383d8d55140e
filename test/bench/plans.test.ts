import { describe, expect, it } from 'vitest';
import { chaos } from '../../bench/chaos.js';
import { cutting } from '../../bench/cutting.js';
import { estimating } from '../../bench/estimating.js';
import { packing } from '../../bench/packing.js';
import { planning } from '../../bench/planning.js';
import type { Result } from '../../bench/results.js';
import { retrying } from '../../bench/retrying.js';
import { syntheticHistory, syntheticSuite } from '../testbed/synthetic.js';

describe('the benchmark of plans', () => {
  it('shows that no other algorithm splits better than Ballast, on synthetic suites', () => {
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

  it('shows that each file of a queue runs when nodes leave, and what it costs', () => {
    const [{ rows }] = chaos([1, 2].map(seed => syntheticSuite(seed, 500))) as [Result];
    expect(rows).toHaveLength(3);
    for (const [name, builds, ratio, most, , missing, twice] of rows) {
      expect([missing, Number(builds) > 0], name).toEqual(['0', true]);
      expect(Number(ratio), name).toBeGreaterThanOrEqual(1);
      expect(Number(most), name).toBeLessThan(2);
      // Nodes without network go on with files that others get.
      if (!name!.startsWith('without')) expect(Number(twice), name).toBeLessThan(1);
    }
    expect(Number(rows[0]![2])).toBeLessThan(1.1);
  });

  it('shows that pieces of long files make suites of test cases faster, and none slower', () => {
    const timings = new Map(
      [...syntheticSuite(1, 40).timings].flatMap(([path, seconds], file) =>
        Array.from({ length: 2 + 2 * file }, (_, i) => [`${path}::test_${i}`, seconds] as const),
      ),
    );
    const { rows } = cutting([{ name: 'cases', timings }, syntheticSuite(2, 40)]);
    for (const [name, gain, , ratio] of rows) {
      expect(Number(gain), name).toBeGreaterThanOrEqual(1);
      expect(Number(ratio), name).toBeGreaterThanOrEqual(1);
    }
    expect(Math.max(...rows.map(row => Number(row[1])))).toBeGreaterThan(1.2);
  });

  it('shows that the queues of Ballast are better than those of other policies, on synthetic suites', () => {
    const suites = [1, 2].map(seed => syntheticSuite(seed, 500));
    const histories = [syntheticHistory(3, 100, 4, 7)];
    const [evenness, recorded, hidden, ends, robustness, cost, failing] = planning(suites, histories, { queues: [[1000, 16]] });
    expect(evenness!.rows).toHaveLength(6);
    for (const column of [1, 2, 3]) {
      const [ours, ...others] = evenness!.rows.map(row => parseFloat(row[column]!));
      expect(ours).toBeGreaterThanOrEqual(1);
      for (const other of others) expect(ours).toBeLessThan(other);
    }
    expect(recorded!.rows).toHaveLength(6);
    for (const cell of recorded!.rows[0]!.slice(1)) expect(Number(cell)).toBeGreaterThanOrEqual(1);
    for (const [name, ...ratios] of hidden!.rows) for (const ratio of ratios) expect(Number(ratio), name).toBeGreaterThanOrEqual(1);
    expect(ends!.rows).toHaveLength(4);
    for (const [name, ...cells] of ends!.rows)
      for (const [column, cell] of cells.entries())
        if (column % 2 === 0) expect(parseFloat(cell), name).toBeLessThan(10);
        else expect(parseFloat(cell), name).toBeGreaterThan(80);
    expect(robustness!.rows.flat()).not.toContain('-');
    expect(cost!.rows).toHaveLength(1);
    for (const [name, before, after, wall, worst] of failing!.rows) {
      expect(Number(after), name).toBeLessThan(Math.min(0.1, Number(before)));
      expect([parseFloat(wall!) < 1, parseFloat(worst!) < 3], name).toEqual([true, true]);
    }
  });

  it('shows how much later a build ends in which a file is retried, on synthetic suites', () => {
    const [[builds, median, most]] = retrying([1, 2].map(seed => syntheticSuite(seed, 500))).rows as [[string, string, string]];
    expect(Number(builds)).toBeGreaterThan(50);
    expect([parseFloat(median) < 2, parseFloat(most) < 10]).toEqual([true, true]);
  });

  it('shows a smaller error of Ballast’s estimates than of the last time, on a synthetic history', () => {
    const [errors, splits, newFiles] = estimating([syntheticHistory(1, 60, 12, 3)], { builds: 60, files: 20 });
    expect(errors!.rows).toHaveLength(7);
    const [ours, last] = errors!.rows.map(row => row.slice(1).map(cell => parseFloat(cell)));
    for (const [column, error] of ours!.entries()) expect(error).toBeLessThan(last![column]!);
    expect(splits!.rows.map(([name]) => name)).toContain('the next times themselves');
    expect(newFiles!.rows).toHaveLength(4);
    for (const row of [...splits!.rows, ...newFiles!.rows]) expect(Number(row[1])).toBeGreaterThanOrEqual(1);
  });
});
