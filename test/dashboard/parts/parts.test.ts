import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fullBar } from '../../../src/dashboard/parts/charts/bar-scale.js';
import { dateLabels } from '../../../src/dashboard/parts/charts/ticks.js';
import { withoutEmpty } from '../../../src/dashboard/parts/empty-columns.js';
import { parseOrder, sortRows } from '../../../src/dashboard/parts/sorting.js';
import { rowsInWindow } from '../../../src/dashboard/parts/visible-rows.js';

describe('the order of a table', () => {
  it('stands in the address', () => {
    expect([parseOrder('-wall'), parseOrder('path')]).toEqual([
      { column: 'wall', isDescending: true },
      { column: 'path', isDescending: false },
    ]);
  });

  it('has what is unknown last, in both directions, and keeps equal rows as they were', () => {
    const rows = [null, 2, 1, null, 3];
    expect(sortRows(rows, row => row, false)).toEqual([1, 2, 3, null, null]);
    expect(sortRows(rows, row => row, true)).toEqual([3, 2, 1, null, null]);
    expect(sortRows(['b1', 'a1', 'b2'], text => text[0]!, true)).toEqual(['b1', 'b2', 'a1']);
  });
});

describe('the scale of bars', () => {
  it('ends at the largest value', () => {
    expect([fullBar([300, 310, 290, 420]), fullBar([300]), fullBar([]), fullBar([0, 0, 0, 9])]).toEqual([420, 300, 0, 9]);
  });

  it('is not owned by one build of three days', () => {
    const days = 3 * 86_400;
    expect(fullBar([...Array<number>(29).fill(300), days])).toBe(600);
    expect([fullBar([300, days]), fullBar([days, 200, 300])]).toEqual([600, 600]);
  });
});

describe('an axis of time', () => {
  it('names a date once', () => {
    const at = (time: string) => new Date(time).toISOString();
    const labels = dateLabels(['2026-01-19T08:00', '2026-01-20T09:05', '2026-01-20T14:30', '2026-01-21T14:30'].map(at));
    expect(labels).toEqual(['2026-01-19', '2026-01-20', '14:30', '2026-01-21']);
  });
});

describe('the rows in the window', () => {
  it('are all that are seen, of a long list only those and a few more', () => {
    const list = fc.record({
      rows: fc.nat(100_000),
      offset: fc.integer({ min: -5000, max: 4_000_000 }),
      height: fc.integer({ min: 1, max: 4000 }),
    });
    fc.assert(
      fc.property(list, ({ rows, offset, height }) => {
        const { first, end } = rowsInWindow(rows, 32, offset, height);
        expect(0 <= first && first <= end && end <= rows).toBe(true);
        expect(end - first).toBeLessThanOrEqual(height / 32 + 42);
        const seen = [Math.floor(offset / 32), Math.ceil((offset + height) / 32) - 1].filter(row => row >= 0 && row < rows);
        for (const row of seen) expect(first <= row && row < end).toBe(true);
      }),
    );
  });
});

describe('the columns of a table', () => {
  type Row = { cell: unknown };
  const columns = [
    { name: 'name', cell: (_: Row) => 'a' },
    { name: 'value', cell: ({ cell }: Row) => cell },
  ];
  const shown = (cells: unknown[], sorted = '') =>
    withoutEmpty(
      columns,
      cells.map(cell => ({ cell })),
      sorted,
    ).map(({ name }) => name);
  const span = (children: unknown) => ({ type: 'span', props: { children } });
  const time = (seconds: number | null) => ({ type: () => null, props: { seconds } });

  it('are those that say something of a row', () => {
    expect(shown([null, undefined, '', '–', span('–'), time(null)])).toEqual(['name']);
    for (const cell of [0, '0 s', time(0), span('1.0×'), { type: 'a', props: {} }]) expect(shown(['', cell])).toEqual(['name', 'value']);
  });

  it('are all of them without rows, and keep the one by which they are sorted', () => {
    expect(shown([])).toEqual(['name', 'value']);
    expect(shown(['–'], 'value')).toEqual(['name', 'value']);
  });
});
