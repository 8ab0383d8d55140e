import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortened } from '../../src/base/shortened.js';

describe('a text in a sentence', () => {
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
