import { describe, expect, it } from 'vitest';
import { atName, branchText, visible } from '../../../src/dashboard/text/path-text.js';

describe('a branch', () => {
  it.each([
    ['refs/pull/12/merge', 'PR 12'],
    ['refs/pull/12/head', 'PR 12'],
    ['pull/12/merge', 'PR 12'],
    ['pull/12', 'PR 12'],
    ['12/merge', 'PR 12'],
    ['refs/heads/main', 'main'],
    ['refs/heads/fix/12/merge', 'fix/12/merge'],
    ['main', 'main'],
    ['12/head', '12/head'],
    ['fix/12/merge', 'fix/12/merge'],
    ['pull/12/merge/again', 'pull/12/merge/again'],
  ])('that a CI system calls %j is shown as %j', (branch, text) => {
    expect(branchText(branch)).toBe(text);
  });
});

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
