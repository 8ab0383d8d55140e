import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReportWatch, readReport } from '../../../src/node/client/report-files.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

describe('a report that several paths and globs name', () => {
  it('is read once, so that its times do not count twice', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'r.xml');
    const watch = new ReportWatch([path, `${folder}/*.xml`, relative(process.cwd(), path)]);
    await watch.snapshot();
    writeFileSync(path, '<testsuites/>');
    expect(await watch.changed()).toHaveLength(1);
  });
});

it('a report that the command left empty is refused', () => {
  const path = join(temporaryFolder(), 'go-test.txt');
  writeFileSync(path, '\n');
  expect(() => readReport(path)).toThrow(`cannot use the report ${path}: it is empty`);
});
