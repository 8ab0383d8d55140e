import { describe, expect, it } from 'vitest';
import { fileChanges } from '../../../../src/server/insight/trends/file-changes.js';

const levels = (...parts: [builds: number, seconds: number][]) =>
  parts.flatMap(([builds, seconds]) => Array.from({ length: builds }, (_, i) => seconds * (i % 2 === 0 ? 0.99 : 1.01)));
const cutFrom = (from: number, to: number) => Array.from({ length: to }, (_, i) => Number(i >= from));

describe('the changes of a file', () => {
  it('are those of its times', () => {
    const seconds = levels([10, 60], [10, 80], [10, 110]);
    expect(fileChanges(seconds, cutFrom(30, 30)).map(({ index }) => index)).toEqual([10, 20]);
    expect(fileChanges(seconds, cutFrom(0, 30)).map(({ index }) => index)).toEqual([10, 20]);
  });

  it('are none where it began to run in pieces, or ended to, also if that is found a build off', () => {
    for (const [before, after] of [
      [60, 80],
      [80, 60],
    ] as const) {
      const seconds = levels([10, before], [10, after]);
      expect(fileChanges(seconds, cutFrom(20, 20))).toHaveLength(1);
      for (const from of [8, 9, 10, 11, 12]) {
        const isCut = cutFrom(from, 20);
        expect(fileChanges(seconds, isCut)).toEqual([]);
        expect(
          fileChanges(
            seconds,
            isCut.map(cut => 1 - cut),
          ),
        ).toEqual([]);
      }
    }
  });

  it('are told while it runs in pieces', () => {
    const seconds = levels([10, 60], [10, 75], [10, 100]);
    expect(fileChanges(seconds, cutFrom(10, 30)).map(({ index }) => index)).toEqual([20]);
  });
});
