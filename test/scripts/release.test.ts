import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { deleteOtherModules } from '../../scripts/release/native-modules.js';
import { publishing } from '../../scripts/release/publishing.js';
import { notesOf, obstaclesOf } from '../../scripts/release/version.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const SOURCE = {
  package: '1.2.3',
  chart: 'name: ballast\nversion: 1.2.3\nappVersion: 1.2.3\n',
  texts: { 'compose.yaml': 'image: ballast:1.2.3\n', 'guide.md': 'pip install ballast_pytest-1.2.3-py3-none-any.whl' },
  changelog: '# Changelog\n\n## 1.2.3\n\nIt splits.\n\n## 1.2.2\n\nIt split.\n',
  fixtures: ['1.2.2', '1.2.3'],
  changes: '',
  files: [],
};

describe('npm run release', () => {
  it('makes a version that package.json, the chart, the changelog and the fixtures have, from a clean tree in an empty folder', () => {
    expect(obstaclesOf('1.2.3', SOURCE)).toEqual([]);
    expect(notesOf('1.2.3', SOURCE.changelog)).toBe('# Ballast 1.2.3\n\nIt splits.\n');
  });

  it.each<[version: string, source: Partial<typeof SOURCE> | { files: string[] }, obstacle: RegExp]>([
    ['1.2', { package: '1.2' }, /^it is no semantic version/],
    ['1.2.3', { package: '1.2.2' }, /^package\.json has the version 1\.2\.2; set it with "npm version 1\.2\.3 --no-git-tag-version"$/],
    ['1.2.3', { chart: 'version: 1.2.3\nappVersion: 1.2.2\n' }, /^the chart has version 1\.2\.3 and appVersion 1\.2\.2; /],
    [
      '1.2.3',
      { texts: { ...SOURCE.texts, 'guide.md': 'docker load -i ballast-1.2.2-image.tar' } },
      /^guide\.md names ballast-1\.2\.2; set 1\.2\.3 there$/,
    ],
    ['1.2.3', { changelog: '## 1.2.3-rc.1\n' }, /^src\/docs\/reference\/changelog\.md has no section "## 1\.2\.3"/],
    [
      '1.2.3',
      { fixtures: ['1.2.2'] },
      /^test\/upgrade\/fixtures has no stores of it, .*; make them with "npm run fixture", and commit them$/,
    ],
    ['1.2.3', { changes: ' M README.md\n?? new.ts' }, /^the tree has changes that are not committed: M README\.md; /],
    ['1.2.3', { files: ['SHA256SUMS'] }, /^its folder has files already, such as SHA256SUMS; /],
  ])('refuses %s where it is not what %o says', (version, source, obstacle) => {
    expect(obstaclesOf(version, { ...SOURCE, ...source })).toContainEqual(expect.stringMatching(obstacle));
  });

  it('lists the commands that publish the files', () => {
    const text = publishing('1.2.3', 'c0ffee', [
      'ballast-1.2.3-image.tar',
      'ballast-1.2.3.tgz',
      'ballast-chart-1.2.3.tgz',
      'p-1.2.3.whl',
      'SHA256SUMS',
    ]);
    for (const command of [
      'git tag -a v1.2.3 -m "Ballast 1.2.3" c0ffee',
      'npm publish --access public ballast-1.2.3.tgz',
      'twine upload p-1.2.3.whl',
      'skopeo copy --all oci-archive:ballast-1.2.3-image.tar docker://$REGISTRY/ballast:1.2.3',
      'helm push ballast-chart-1.2.3.tgz oci://$REGISTRY/charts',
      '  ballast-1.2.3-image.tar ballast-1.2.3.tgz ballast-chart-1.2.3.tgz p-1.2.3.whl SHA256SUMS',
    ])
      expect(text.split('\n')).toContain(command);
    expect(text).not.toContain('npm publish --access public ballast-chart');
  });
});

describe('the native modules of an archive', () => {
  const elf = (machine: number) => Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(14), Buffer.from([machine, 0, 0, 0])]);
  const [X64, ARM64] = [elf(0x3e), elf(0xb7)];
  const MODULES: [path: string, bytes: Buffer, processor: 'x64' | 'arm64' | null][] = [
    ['lmdb/node.napi.glibc.node', X64, 'x64'],
    ['lmdb/node.napi.musl.node', ARM64, 'arm64'],
    ['lmdb/node.abi115.glibc.node', X64, null],
    ['uws/uws_linux_x64_137.node', X64, 'x64'],
    ['uws/uws_linux_x64_127.node', X64, null],
    ['uws/uws_darwin_arm64_137.node', Buffer.from('cffaedfe0c000001000000000000000000000000', 'hex'), null],
    ['@uwsjs/linux-x64-20/uws.node', X64, null],
    ['fs/prebuilds/linux-arm64/fs.node', ARM64, 'arm64'],
    ['fs/prebuilds/linux-arm64/fs.bare', ARM64, null],
    ['fs/prebuilds/android-arm64/fs.node', ARM64, null],
    ['empty.node', Buffer.alloc(0), null],
  ];

  it.each(['x64', 'arm64'] as const)('are those of Linux on %s, for the Node in it', processor => {
    const folder = temporaryFolder();
    for (const [path, bytes] of [...MODULES, ['uws/uws.js', X64] as const]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    deleteOtherModules(folder, processor);
    expect(MODULES.filter(([path]) => existsSync(join(folder, path))).map(([path]) => path)).toEqual(
      MODULES.flatMap(([path, , of]) => (of === processor ? path : [])),
    );
    expect(existsSync(join(folder, 'uws/uws.js'))).toBe(true);
  });
});

describe('./ballast of an archive', () => {
  const launcher = fileURLToPath(new URL('../../../scripts/release/ballast.sh', import.meta.url));
  /** Runs it beside a program `node`, with another one in the PATH. Each prints its name and its arguments; null: it cannot run. */
  const run = (own: string | null, others: string | null) => {
    const [folder, path] = [temporaryFolder(), temporaryFolder()];
    copyFileSync(launcher, join(folder, 'ballast'));
    for (const [place, name] of [
      [folder, own],
      [path, others],
    ] as const) {
      writeFileSync(join(place, 'node'), name === null ? '#!/bin/sh\nexit 126\n' : `#!/bin/sh\necho ${name} "$@"\n`);
      chmodSync(join(place, 'node'), 0o755);
    }
    return execFileSync('sh', [join(folder, 'ballast'), 'serve', 'a b'], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${path}:/usr/bin:/bin` },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).replaceAll(folder, '.');
  };

  it('runs the Node beside it, or else that of the machine', () => {
    expect(run('own', 'other')).toBe('own ./dist/src/main.js serve a b\n');
    expect(run(null, 'other')).toBe('other ./dist/src/main.js serve a b\n');
  });

  it('says what is missing where none can run', () => {
    expect(() => run(null, null)).toThrow(/ballast: cannot run: the Node in .* does not start .* needs glibc 2\.34.* install Node 24/);
  });
});
