import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BatchList } from '../../../src/node/client/batch-list.js';

it('the file of a batch is there even if tests removed that of the batch before, and none is left', () => {
  const list = new BatchList();
  onTestFinished(() => list.remove());
  const first = list.write(['a.js', 'b.js']);
  expect(readFileSync(first, 'utf8')).toBe('a.js\nb.js\n');
  rmSync(dirname(first), { recursive: true });
  const second = list.write(['c.js']);
  expect(readFileSync(second, 'utf8')).toBe('c.js\n');
  const third = list.write(['d.js']);
  expect([first, second, third].map(file => existsSync(file))).toEqual([false, false, true]);
  list.remove();
  expect(existsSync(dirname(third))).toBe(false);
});
