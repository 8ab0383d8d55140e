import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { runScript } from './script.js';

interface Sbom {
  components: { name: string }[];
}

describe('npm run packages', () => {
  it('packs server, client and the plugin of pytest, with what is in them and the checksums of all', async () => {
    const folder = temporaryFolder();
    const { code, output } = await runScript('packages', folder);
    expect({ code, output }).toMatchObject({ code: 0 });
    const named = (begin: RegExp) => readdirSync(folder).find(name => begin.test(name))!;
    const filesIn = (name: string) =>
      execFileSync('tar', ['-tzf', join(folder, name)], { encoding: 'utf8' })
        .trim()
        .split('\n');
    const namesIn = (name: string) =>
      (JSON.parse(readFileSync(join(folder, name), 'utf8')) as Sbom).components.map(({ name }) => name).sort();
    expect(filesIn(named(/^ballast-client-.*tgz$/)).sort()).toEqual(
      ['LICENSE', 'README.md', 'ballast.mjs', 'package.json'].map(name => `package/${name}`),
    );
    expect(namesIn(named(/^ballast-client-.*json$/))).toEqual([
      ...['@streamparser/json', 'commander', 'cross-spawn', 'fdir', 'isexe', 'path-key', 'picomatch', 'sax'],
      ...['shebang-command', 'shebang-regex', 'tinyglobby', 'which'],
    ]);
    for (const runner of ['jest', 'playwright', 'vitest']) {
      expect(filesIn(named(new RegExp(`^ballast-${runner}-.*tgz$`))).sort()).toEqual(
        ['LICENSE', 'README.md', `ballast-${runner}.mjs`, 'package.json'].map(name => `package/${name}`),
      );
      expect(namesIn(named(new RegExp(`^ballast-${runner}-.*json$`)))).toEqual([]);
    }
    const files = filesIn(named(/^ballast-\d.*tgz$/));
    expect(files).toEqual(
      expect.arrayContaining(['dist/src/main.js', 'dist/src/ballast.mjs', 'dist/src/dashboard/index.html'].map(name => `package/${name}`)),
    );
    expect(files.filter(name => !/^package\/(dist\/src\/.*|package\.json|README\.md|LICENSE)$/.test(name))).toEqual([]);
    const server = namesIn(named(/^ballast-\d.*json$/));
    expect(server).toEqual(expect.arrayContaining(['lmdb', 'pg', 'picomatch', 'piscina', 'sax']));
    expect(server).not.toContain('vitest');
    const wheel = unzipSync(readFileSync(join(folder, named(/\.whl$/))));
    expect(Object.keys(wheel).map(name => basename(name))).toEqual([
      'ballast_pytest.py',
      'METADATA',
      'WHEEL',
      'entry_points.txt',
      'LICENSE',
      'RECORD',
    ]);
    expect(strFromU8(wheel['ballast_pytest.py']!)).toContain('"name":"GitLab CI"');
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
    expect(sums).toHaveLength(16);
    for (const [sum, name] of sums.map(line => line.split('  '))) {
      expect({ name, sum }).toEqual({
        name,
        sum: createHash('sha256')
          .update(readFileSync(join(folder, name!)))
          .digest('hex'),
      });
    }
  });
});
