import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutForColumn, visible } from '../../../src/dashboard/text/path-text.js';

describe('a path', () => {
  it('shows what would move or hide other text', () => {
    expect(visible('spec/\u202egpj.exe\u0000\n\u200f')).toBe('spec/\\u202egpj.exe\\u0000\\u000a\\u200f');
    expect(visible('spec/שלום/é 🙂<img onerror=x>')).toBe('spec/שלום/é 🙂<img onerror=x>');
  });

  it('that is too long for its column is cut before its name', () => {
    expect(cutForColumn('spec/models/billing/invoices/cart_spec.rb')).toEqual({
      head: 'spec/models/billing/invoices',
      tail: '/cart_spec.rb',
    });
    expect(cutForColumn('spec/cart_spec.rb')).toEqual({ head: 'spec', tail: '/cart_spec.rb' });
    expect(cutForColumn('spec/models/')).toEqual({ head: 'spec', tail: '/models/' });
    expect(cutForColumn('cart_spec.rb')).toEqual({ head: '', tail: 'cart_spec.rb' });
    expect(cutForColumn('a'.repeat(4000)).tail).toHaveLength(32);
  });

  it('is whole in its two parts, and each is well formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), text => {
        const { head, tail } = cutForColumn(text);
        expect(head + tail).toBe(text);
        expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
      }),
    );
  });
});
