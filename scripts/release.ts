import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { writeChecksums } from './release/checksums.js';
import { unpackDebian } from './release/debian.js';
import { makeImage } from './release/image.js';
import { downloadNode, PROCESSORS } from './release/node-binary.js';
import { publishing } from './release/publishing.js';
import { makeServerFolder, unpack } from './release/server-folder.js';
import { tar } from './release/tar.js';
import { notesOf, obstaclesOf } from './release/version.js';

/** Makes what is published of a version from a clean tree. */

/** Files for deployments that are published as they are. */
const DEPLOYED = ['compose.yaml', 'compose.database.yaml', 'haproxy.cfg', 'ballast.service'];

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = new Command('npm run release --')
  .description(
    'Make what is published of a version: archives of the server for Linux on x64 and arm64, an image for both, the chart, files for Docker Compose, the packages of "npm run packages", the site of "npm run site", notes, SHA256SUMS, and the commands that publish them. The tree must be clean, and package.json, the chart, the changelog, the guides, the files for deployments and the fixtures of upgrades must have the version. The same commit gives the same bytes. Needs the registry of npm, a mirror of Debian, GNU tar, gzip and xz.',
  )
  .argument('<version>', 'the version, as in package.json')
  .argument('[folder]', 'where to write the files: an empty folder', 'release')
  .parse();

const version = program.args[0]!;
const folder = resolve(root, program.args[1] ?? 'release');
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const NAMING = [
  'README.md',
  ...git('ls-files', 'scripts/deploy', 'src/docs')
    .split('\n')
    .filter(path => !/upgrading|changelog|\.png$/.test(path)),
];
const changelog = read('src/docs/reference/changelog.md');
mkdirSync(folder, { recursive: true });
const obstacles = obstaclesOf(version, {
  package: (JSON.parse(read('package.json')) as { version: string }).version,
  chart: read('scripts/deploy/helm/ballast/Chart.yaml'),
  texts: Object.fromEntries(NAMING.map(path => [path, read(path)])),
  changelog,
  fixtures: readdirSync(join(root, 'test/upgrade/fixtures')),
  changes: git('status', '--porcelain'),
  files: readdirSync(folder),
});
if (obstacles.length > 0) {
  for (const obstacle of obstacles) process.stderr.write(`release: cannot make ${version}: ${obstacle}\n`);
  process.exit(2);
}

const commit = git('rev-parse', 'HEAD');
const time = Number(git('log', '-1', '--format=%ct'));
const made = mkdtempSync(join(tmpdir(), 'ballast-release-'));
try {
  execFileSync(process.execPath, [join(root, 'dist/scripts/packages.js'), folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  for (const processor of PROCESSORS) {
    process.stderr.write(`release: making the server for ${processor} ...\n`);
    const name = `ballast-${version}-linux-${processor}`;
    const [parent, node] = [join(made, processor), join(made, `node-${processor}`)];
    for (const each of [parent, node]) mkdirSync(each);
    unpack(downloadNode(processor, made), node);
    makeServerFolder(join(parent, name), { root, processor, libc: 'glibc', node });
    tar(join(folder, `${name}.tar.gz`), { folder: parent, names: [name], time });
    renameSync(join(parent, name), join(parent, 'ballast'));
  }
  process.stderr.write('release: making the image ...\n');
  const parts = [];
  for (const processor of PROCESSORS) {
    const system = join(made, `debian-${processor}`);
    await unpackDebian(system, processor);
    parts.push({ processor, system, server: join(made, processor) });
  }
  const dockerfile = read('scripts/deploy/Dockerfile');
  makeImage(join(folder, `ballast-${version}-image.tar`), { version, commit, time, dockerfile }, parts);
} finally {
  rmSync(made, { recursive: true });
}
tar(join(folder, `ballast-chart-${version}.tgz`), { folder: join(root, 'scripts/deploy/helm'), names: ['ballast'], time });
for (const name of DEPLOYED) copyFileSync(join(root, 'scripts/deploy', name), join(folder, name));
tar(join(folder, `ballast-ci-${version}.tar.gz`), { folder: join(root, 'scripts'), names: ['ci'], time });
process.stderr.write('release: recording the demo ...\n');
execFileSync(process.execPath, [join(root, 'dist/scripts/site.js'), join(folder, 'site')], { stdio: ['ignore', 'ignore', 'inherit'] });
tar(join(folder, `ballast-${version}-site.tar.gz`), { folder, names: ['site'], time });
writeFileSync(join(folder, 'NOTES.md'), notesOf(version, changelog));
const names = writeChecksums(folder);
writeFileSync(join(folder, 'PUBLISH.md'), publishing(version, commit, names));
process.stdout.write(`${[...names, 'NOTES.md', 'PUBLISH.md'].map(name => join(folder, name)).join('\n')}\n`);
