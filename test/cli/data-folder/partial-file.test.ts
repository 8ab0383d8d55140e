import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPartialFile } from '../../../src/cli/data-folder/partial-file.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

describe('a partial file', () => {
  it('has its own folder; creating it removes the folders of killed processes and nothing else', () => {
    const parent = temporaryFolder();
    const prefix = join(parent, 'x.part-');
    const others = createPartialFile(prefix, 'x');
    for (const [folder, files] of Object.entries({ killed: ['lock', 'x'], older: ['x'], empty: [], foreign: ['x', 'notes'] })) {
      mkdirSync(`${prefix}${folder}`);
      for (const file of files) writeFileSync(join(`${prefix}${folder}`, file), '');
    }
    // split(1) names the pieces of x in this way.
    writeFileSync(`${prefix}aa`, '');
    const part = createPartialFile(prefix, 'x');
    const left = [part.path, others.path].map(path => path.slice(parent.length + 1, -'/x'.length));
    expect(readdirSync(parent).sort()).toEqual([...left, 'x.part-aa', 'x.part-foreign'].sort());
    part.remove();
    others.remove();
    expect(readdirSync(parent).sort()).toEqual(['x.part-aa', 'x.part-foreign']);
  });
});
