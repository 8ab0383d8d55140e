import { describe, expect, it } from 'vitest';
import { batchLine, batchTable } from '../../src/cli/node/text/batch-table.js';

const measured = [
  { path: 'a.js', expected: 30 },
  { path: 'b.js', expected: 11.4 },
];
const never = { path: 'c.js', expected: null };

describe('a batch', () => {
  it('is announced with its files and their estimate', () => {
    expect(batchLine(1, measured)).toBe('batch 1: 2 test files, 41 s by estimate');
    expect(batchLine(2, [...measured, never])).toBe('batch 2: 3 test files, 41 s by estimate, 1 never measured');
    expect(batchLine(3, [never])).toBe('batch 3: 1 test file, never measured');
    const piece = { path: 'c.js::piece 1 of 2', file: 'c.js', cases: [], others: null, outcomes: new Map(), isTrial: false };
    expect(batchLine(4, [{ path: piece.path, expected: 5, piece }])).toBe('batch 4: 1 piece (c.js::piece 1 of 2), 5.0 s by estimate');
    expect(batchLine(5, [...measured, { path: piece.path, expected: 5, piece }])).toBe(
      'batch 5: 2 test files and 1 piece (c.js::piece 1 of 2), 46 s by estimate',
    );
  });

  it('is a row of the table at the end, with what it took', () => {
    const first = { number: 1, files: measured, seconds: 43.2, failed: 1 };
    expect(batchTable([first])).toEqual(['batch  files  new  estimate  took  failed', '    1      2    0      41 s  43 s       1']);
    expect(batchTable([first, { number: 3, files: [never], seconds: 0.05, failed: 0 }])).toEqual([
      'batch  files  new  estimate   took  failed',
      '    1      2    0      41 s   43 s       1',
      '    3      1    1         -  50 ms       0',
      '  all      3    1      41 s   43 s       1',
    ]);
  });
});
