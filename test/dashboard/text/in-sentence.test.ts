import { describe, expect, it } from 'vitest';
import { commitOf, nameOf } from '../../../src/dashboard/text/in-sentence.js';

describe('a path', () => {
  it('is known by its last part', () => {
    expect(nameOf('spec/features/checkout_spec.rb')).toBe('checkout_spec.rb');
    expect(nameOf('a/b/')).toBe('b/');
    expect(nameOf('')).toBe('');
  });

  it('of a commit is its hash, unless a client sent something else', () => {
    expect(commitOf('4d5e6f7a8b9c0d1e2f')).toBe('4d5e6f7a');
    expect(commitOf('\u202eabc')).toBe('\\u202eab');
  });
});
