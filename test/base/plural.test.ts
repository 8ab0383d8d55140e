import { describe, expect, it } from 'vitest';
import { agree, allOf, pluralize } from '../../src/base/plural.js';

describe('a sentence with a count', () => {
  it('has the singular only for one', () => {
    const sentence = (count: number) => `${pluralize(count, 'test file')} ${agree(count, 'was', 'were')} recorded`;
    expect([0, 1, 2].map(sentence)).toEqual(['0 test files were recorded', '1 test file was recorded', '2 test files were recorded']);
  });

  it('has the plural of a noun that does not end with s', () => {
    expect(pluralize(1, 'process', 'processes')).toBe('1 process');
    expect(pluralize(2, 'process', 'processes')).toBe('2 processes');
  });

  it('names the whole', () => {
    expect(allOf(1, 'test file')).toBe('the only test file');
    expect(allOf(3, 'test file')).toBe('all 3 test files');
  });
});
