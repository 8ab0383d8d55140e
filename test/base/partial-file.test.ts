import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createPartialFile } from '../../src/base/partial-file.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

it('a partial file has a folder, which one process has at a time; that of a killed process is taken over, and nothing else is removed', async () => {
  const folder = join(temporaryFolder(), 'x.part');
  const others = await createPartialFile(folder, 'x');
  await expect(createPartialFile(folder, 'x')).rejects.toThrow(`another process is writing it, in ${folder}`);
  await others.remove();
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder);
  for (const left of ['lock', 'x', 'x-lock', 'notes']) writeFileSync(join(folder, left), '');
  const part = await createPartialFile(folder, 'x');
  expect(readdirSync(folder).sort()).toEqual(['lock', 'notes']);
  writeFileSync(part.path, '');
  await part.remove();
  expect(readdirSync(folder)).toEqual(['notes']);
});
