import { describe, expect, it } from 'vitest';
import { decodeQuery } from '../../../../src/server/api/json.js';

describe('a query', () => {
  it('counts the first of the parameters with the same name', () => {
    expect(decodeQuery('page=2&branch=a%20b&page=3&__proto__=x')).toEqual(
      Object.fromEntries([
        ['page', '2'],
        ['branch', 'a b'],
        ['__proto__', 'x'],
      ]),
    );
  });

  it('of many names takes time by their number, not by its square', () => {
    const names = Array.from({ length: 50_000 }, (_, i) => `n${i}`);
    expect(Object.keys(decodeQuery(names.join('&')))).toHaveLength(names.length);
  });
});
