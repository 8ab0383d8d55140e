import { describe, expect, it } from 'vitest';
import { atName, visible } from '../../../src/dashboard/text/path-text.js';

describe('a path', () => {
  it('shows what would move or hide other text', () => {
    expect(visible('spec/\u202egpj.exe\u0000\n\u200f')).toBe('spec/\\u202egpj.exe\\u0000\\u000a\\u200f');
    expect(visible('spec/שלום/é 🙂<img onerror=x>')).toBe('spec/שלום/é 🙂<img onerror=x>');
  });

  it.each([
    ['spec/models/billing/cart_spec.rb', 'spec/models/billing/', 'cart_spec.rb'],
    ['spec/models/', 'spec/', 'models/'],
    ['/cart_spec.rb', '/', 'cart_spec.rb'],
    ['cart_spec.rb', '', 'cart_spec.rb'],
    ['', '', ''],
  ])('%j has the directory %j and the name %j', (path, directory, name) => {
    expect(atName(path)).toEqual({ directory, name });
  });
});
