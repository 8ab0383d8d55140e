import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyNumbers, type Match, matchPaths } from '../../../src/planning/paths/match-paths.js';
import { pathList } from '../../../src/planning/paths/path-list.js';

const seed = 20_260_125;

const plain = fc.string({ unit: fc.constantFrom('a', 'b', 'ö', '/'), maxLength: 4 });
const odd = fc.string({ unit: fc.constantFrom('a', '\\', '"', '\n', '漢', '🙂', '\uffff', '\ud800'), maxLength: 4 });

/** By file of the list, the file of the other one, or -1. */
function othersOf(matches: readonly Match[], files: number): number[] {
  const others: number[] = Array(files).fill(-1);
  for (const { file, other, length } of matches) for (let i = 0; i < length; i++) others[file + i] = other + i;
  return others;
}

describe('the paths that two lists have in common', () => {
  it('are all found where JSON keeps the order of the paths', () => {
    fc.assert(
      fc.property(fc.array(plain), fc.array(plain), (one, other) => {
        const [list, base] = [pathList(one), pathList(other)];
        const paths = base.strings();
        expect(othersOf(matchPaths(list, base), list.length)).toEqual(list.strings().map(path => paths.indexOf(path)));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('are never taken for others', () => {
    fc.assert(
      fc.property(fc.array(odd), fc.array(odd), (one, other) => {
        const [list, base] = [pathList(one), pathList(other)];
        const others = othersOf(matchPaths(list, base), list.length);
        for (const [file, match] of others.entries()) if (match >= 0) expect(base.at(match)).toBe(list.at(file));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('are found together where they are adjacent in both', () => {
    const paths = Array.from({ length: 2000 }, (_, file) => `spec/area/file_${10_000 + file}_spec.rb`);
    const [list, base] = [pathList(paths.filter((_, file) => file !== 700)), pathList(paths.filter((_, file) => file !== 1500))];
    expect(matchPaths(list, base)).toEqual([
      { file: 0, other: 0, length: 700 },
      { file: 700, other: 701, length: 799 },
      { file: 1500, other: 1500, length: 499 },
    ]);
  });

  it('are not looked for where none of a few is found', () => {
    const paths = (from: number) => Array.from({ length: 2000 }, (_, file) => `spec/area/file_${from + file}_spec.rb`);
    const list = pathList(paths(10_000));
    expect(matchPaths(list, pathList([...paths(20_000), list.at(1)]))).toEqual([]);
    expect(matchPaths(list, pathList([...paths(20_000), ...paths(11_000)]))).toEqual([{ file: 1000, other: 0, length: 1000 }]);
  });

  it.each([2, 4, 32, 100])('are found where every path out of %i is new', period => {
    const paths = Array.from({ length: 100 * period }, (_, file) => `spec/area/file_${10_000 + file}_spec.rb`);
    for (let offset = 0; offset < period; offset += Math.ceil(period / 4)) {
      const base = pathList(paths.filter((_, file) => file % period !== offset));
      const found = matchPaths(pathList(paths), base).reduce((sum, { length }) => sum + length, 0);
      expect(found).toBe(base.length);
    }
  });

  it('get the numbers that they lack', () => {
    const [list, base] = [pathList(['a', 'b', 'd', 'e']), pathList(['b', 'c', 'd', 'e'])];
    base.columns.numbers.set([7, 8, 9, 0, 9]);
    list.columns.numbers.set([0, 0, 0, 5, 0]);
    copyNumbers(list, base, matchPaths(list, base));
    expect([...list.columns.numbers]).toEqual([0, 7, 9, 5, 0]);
  });
});
