import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createPartialFile } from '../../../src/cli/data-folder/partial-file.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

it('a partial file has a folder, which one process has at a time; that of a killed process is taken over, and nothing else is removed', () => {
  const folder = join(temporaryFolder(), 'x.part');
  const others = createPartialFile(folder, 'x');
  expect(() => createPartialFile(folder, 'x')).toThrow(`another process is writing it, in ${folder}`);
  others.remove();
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder);
  for (const left of ['lock', 'x', 'x-lock', 'notes']) writeFileSync(join(folder, left), '');
  const part = createPartialFile(folder, 'x');
  expect(readdirSync(folder).sort()).toEqual(['lock', 'notes']);
  writeFileSync(part.path, '');
  part.remove();
  expect(readdirSync(folder)).toEqual(['notes']);
});
