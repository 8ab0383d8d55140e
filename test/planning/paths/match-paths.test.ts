import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyNumbers, matchPaths } from '../../../src/planning/paths/match-paths.js';
import { pathList } from '../../../src/planning/paths/path-list.js';

const seed = 20_260_125;

const plain = fc.string({ unit: fc.constantFrom('a', 'b', 'ö', '/'), maxLength: 4 });
const odd = fc.string({ unit: fc.constantFrom('a', '\\', '"', '\n', '漢', '🙂', '\uffff', '\ud800'), maxLength: 4 });

describe('the paths that two lists have in common', () => {
  it('are all found where JSON keeps the order of the paths', () => {
    fc.assert(
      fc.property(fc.array(plain), fc.array(plain), (one, other) => {
        const [list, base] = [pathList(one), pathList(other)];
        const paths = base.strings();
        expect([...matchPaths(list, base)]).toEqual(list.strings().map(path => paths.indexOf(path)));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('are never taken for others', () => {
    fc.assert(
      fc.property(fc.array(odd), fc.array(odd), (one, other) => {
        const [list, base] = [pathList(one), pathList(other)];
        for (const [file, match] of matchPaths(list, base).entries()) if (match >= 0) expect(base.at(match)).toBe(list.at(file));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('get the numbers that they lack', () => {
    const [list, base] = [pathList(['a', 'b', 'd', 'e']), pathList(['b', 'c', 'd', 'e'])];
    base.columns.numbers.set([7, 8, 9, 0, 9]);
    list.columns.numbers.set([0, 0, 0, 5, 0]);
    copyNumbers(list, base, matchPaths(list, base));
    expect([...list.columns.numbers]).toEqual([0, 7, 9, 5, 0]);
  });
});
