import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBuildSearch, searchOf, withWholeHash } from '../../../src/dashboard/pages/builds/search.js';
import { parseSearch, searchWord } from '../../../src/dashboard/text/search.js';

describe('a search for builds', () => {
  it('becomes the query of the list', () => {
    expect(parseBuildSearch('branch:main commit:4d5e6f failed: nodes:8')).toEqual({
      query: { branch: 'main', commit_hash: '4d5e6f', failed: 'true', node_total: '8' },
      problems: [],
    });
    expect(parseBuildSearch('from:2026-11-01 to:2026-02-30')).toEqual({
      query: { from: '2026-11-01' },
      problems: ['to:2026-02-30 is not a day. Write to:2026-11-22.'],
    });
    expect(searchOf({ branch: 'main', from: '2026-11-01', to: '2026-11-02' })).toBe('branch:main from:2026-11-01 to:2026-11-02');
    expect(parseBuildSearch('  ')).toEqual({ query: {}, problems: [] });
  });

  it('is written again from the query', () => {
    for (const text of ['', 'branch:main', 'branch:"my branch" commit:4d5e6f nodes:8 failed:'])
      expect(searchOf(parseBuildSearch(text).query)).toBe(text);
  });

  it('takes the whole hash of a commit that alone begins with what was typed', () => {
    const query = { branch: 'main', commit_hash: '4d5e' };
    const similar = (branches: string[] | null, commit_hashes: string[] | null) => ({ branches, commit_hashes, searched: 9 });
    expect(withWholeHash(query, similar(null, ['4d5e6f']))).toEqual({ branch: 'main', commit_hash: '4d5e6f' });
    for (const other of [null, similar(null, []), similar(null, ['4d5e6f', '4d5eff']), similar([], ['4d5e6f']), similar(['main2'], null)])
      expect(withWholeHash(query, other)).toBe(null);
  });

  it('takes a word alone for a branch', () => {
    expect(parseBuildSearch('fix/cart').query).toEqual({ branch: 'fix/cart' });
    expect(parseBuildSearch('"my branch"').query).toEqual({ branch: 'my branch' });
  });

  it.each([
    ['node:8', 'There is no node: here. There are branch:, commit:, failed:, nodes:, from: and to:.'],
    ['constructor:1', 'There is no constructor: here. There are branch:, commit:, failed:, nodes:, from: and to:.'],
    ['failed:yes', 'failed: has no value; write failed: alone.'],
    ['branch:', 'branch: needs a value: the name of a branch.'],
    ['nodes:many', 'nodes:many is not a whole number.'],
    ['nodes:8 nodes:9', 'nodes: is given twice; the first one counts.'],
    ['branch:main cart', '"cart" has no name before it. Write branch:cart or commit:cart.'],
  ])('explains what it does not understand: %s', (text, problem) => {
    expect(parseBuildSearch(text).problems).toEqual([problem]);
  });

  it('reads what was written for it', () => {
    const value = fc.string({ minLength: 1 }).filter(text => !/["]/.test(text));
    fc.assert(
      fc.property(value, text => {
        expect(parseBuildSearch(searchWord('branch', text))).toEqual({ query: { branch: text }, problems: [] });
      }),
    );
  });
});

describe('any text', () => {
  it('is read without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:" \\-5é') }), text => {
        const { filters, words, problems } = parseSearch(text, { a: { kind: 'number', about: 'a number' } });
        expect(Object.values(filters).every(value => /^\d+$/.test(value))).toBe(true);
        expect([...words, ...problems].every(word => word !== '')).toBe(true);
      }),
    );
  });
});
