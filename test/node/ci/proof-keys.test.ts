import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { UsageError } from '../../../src/base/usage-error.js';
import { proofKeys } from '../../../src/node/ci/proof-keys.js';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

function errorsOf(texts: readonly string[]): readonly string[] {
  try {
    proofKeys(texts, '');
  } catch (error) {
    if (error instanceof UsageError) return error.errors;
    throw error;
  }
  throw new Error('no error was thrown');
}

it('is the sorted hashes of the distinct texts', () => {
  expect(proofKeys(['node 22', 'ubuntu-24.04', 'node 22', 'größer'], '')).toEqual(['node 22', 'ubuntu-24.04', 'größer'].map(sha256).sort());
  expect(proofKeys(['b', 'a'], '')).toEqual(proofKeys(['a', 'b'], ''));
  expect(proofKeys([], '')).toEqual([]);
});

it('tells a folder of the repository from its root', () => {
  expect(proofKeys([], 'packages/a/')).toEqual([sha256('folder=packages/a/')]);
  expect(proofKeys(['x'], 'packages/a/')).toEqual([sha256('x'), sha256('folder=packages/a/')].sort());
});

it('accepts texts up to the limits', () => {
  const texts = Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(1000, '.'));
  expect(proofKeys(texts, 'a/')).toHaveLength(21);
});

it('lists all that is wrong with the texts', () => {
  expect(errorsOf([''])).toEqual(['a proof key is empty: give a text, or leave it out']);
  const long = 'x'.repeat(1001);
  expect(errorsOf(['a', long, ''])).toEqual([
    `the proof key "${'x'.repeat(19)}…${'x'.repeat(40)}" has 1001 characters: give at most 1,000, such as its hash`,
    'a proof key is empty: give a text, or leave it out',
  ]);
  expect(errorsOf(Array.from({ length: 21 }, () => 'a'))).toEqual(['there are 21 proof keys: give at most 20']);
});
