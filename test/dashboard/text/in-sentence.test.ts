import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commitOf, nameOf, shortened } from '../../../src/dashboard/text/in-sentence.js';

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

  it('keeps its end when it is too long', () => {
    expect(shortened('spec/features/checkout_spec.rb', 20)).toBe('spec/f…ckout_spec.rb');
    expect(shortened('short', 20)).toBe('short');
  });

  it('is never longer than it may be, and never cut within a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 4, max: 60 }), (text, most) => {
        const short = shortened(text, most);
        expect([...short].length).toBeLessThanOrEqual(most);
        expect(short.isWellFormed()).toBe(true);
      }),
    );
  });
});
