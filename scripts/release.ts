import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { writeChecksums } from './release/checksums.js';
import { PROCESSORS } from './release/node-binary.js';
import { publishing } from './release/publishing.js';
import { makeServerArchive } from './release/server-archive.js';
import { notesOf, obstaclesOf } from './release/version.js';

/** Makes what is published of a version from a clean tree. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = new Command('npm run release --')
  .description(
    'Make what is published of a version: archives of the server for Linux on x64 and arm64, the packages of "npm run packages", notes, SHA256SUMS, and the commands that publish them. The tree must be clean, and package.json, the chart and the changelog must have the version. The same commit gives the same bytes. Needs the registry of npm.',
  )
  .argument('<version>', 'the version, as in package.json')
  .argument('[folder]', 'where to write the files: an empty folder', 'release')
  .parse();

const version = program.args[0]!;
const folder = resolve(root, program.args[1] ?? 'release');
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const changelog = read('src/docs/reference/changelog.md');
mkdirSync(folder, { recursive: true });
const obstacles = obstaclesOf(version, {
  package: (JSON.parse(read('package.json')) as { version: string }).version,
  chart: read('scripts/deploy/helm/ballast/Chart.yaml'),
  changelog,
  changes: git('status', '--porcelain'),
  files: readdirSync(folder),
});
if (obstacles.length > 0) {
  for (const obstacle of obstacles) process.stderr.write(`release: cannot make ${version}: ${obstacle}\n`);
  process.exit(2);
}

execFileSync(process.execPath, [join(root, 'dist/scripts/packages.js'), folder], { stdio: ['ignore', 'ignore', 'inherit'] });
const time = Number(git('log', '-1', '--format=%ct'));
for (const processor of PROCESSORS) {
  process.stderr.write(`release: making the server for ${processor} ...\n`);
  makeServerArchive({ root, version, processor, time, packed: join(folder, `ballast-${version}.tgz`), folder });
}
writeFileSync(join(folder, 'NOTES.md'), notesOf(version, changelog));
const names = writeChecksums(folder);
writeFileSync(join(folder, 'PUBLISH.md'), publishing(version, git('rev-parse', 'HEAD'), names));
process.stdout.write(`${[...names, 'NOTES.md', 'PUBLISH.md'].map(name => join(folder, name)).join('\n')}\n`);
