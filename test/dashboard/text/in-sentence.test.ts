import { describe, expect, it } from 'vitest';
import { commitOf, inSentence, pathInSentence } from '../../../src/dashboard/text/in-sentence.js';

describe('a path', () => {
  const long = (folder: string) => `packages/${folder}/${'deep/'.repeat(9)}src/index.test.ts`;

  it.each([
    ['is short', 'spec/features/checkout_spec.rb', 'spec/features/checkout_spec.rb'],
    ['is empty', '', ''],
    ['is long', long('shop'), `…/${'deep/'.repeat(8)}src/index.test.ts`],
    ['has a long name alone', `${'a'.repeat(80)}`, `${'a'.repeat(19)}…${'a'.repeat(40)}`],
  ])('that %s is told with as many folders as fit', (_, path, text) => {
    expect(pathInSentence(path)).toBe(inSentence(text));
  });

  it('is told with more folders where another file has the same end', () => {
    const other = `lib/${'deep/'.repeat(9)}src/index.test.ts`;
    expect(pathInSentence(long('shop'), [long('shop'), other])).toBe(inSentence(`…/shop/${'deep/'.repeat(9)}src/index.test.ts`));
  });

  it('of a commit is its hash, unless a client sent something else', () => {
    expect(commitOf('4d5e6f7a8b9c0d1e2f')).toBe('4d5e6f7a');
    expect(commitOf('\u202eabc')).toBe('\\u202eab');
  });
});
