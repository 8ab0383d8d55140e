import { expect, it } from 'vitest';
import { limits } from '../../../../src/protocol/limits.js';
import { memoryBounds } from '../../../../src/server/engine/memory-bounds.js';
import { PathNumbers } from '../../../../src/server/store/lmdb/path-numbers.js';
import { temporaryStore } from './temporary-store.js';

const LONG = 'x'.repeat(limits.pathMaxCharacters - 10);

it('caches paths up to a number of bytes, and keeps the numbers of all paths', () => {
  const numbers = new PathNumbers(temporaryStore());
  let most = 0;
  for (let i = 0; i < 30_000; i++) {
    numbers.make(1, `${LONG}${i}`);
    most = Math.max(most, numbers.bytes);
  }
  expect(most).toBeGreaterThan(memoryBounds.pathNumbers / 2);
  expect(most).toBeLessThanOrEqual(memoryBounds.pathNumbers);
  expect(numbers.get(1, `${LONG}29999`)).toBe(30_000);
});

it('counts no bytes for a path that it forgot', () => {
  const numbers = new PathNumbers(temporaryStore());
  numbers.make(1, 'a_spec.rb');
  const { bytes } = numbers;
  for (const path of ['b_spec.rb', 'c_spec.rb']) {
    numbers.make(1, path);
    numbers.forget(1, path);
    numbers.forget(1, path);
  }
  expect(numbers.bytes).toBe(bytes);
});
