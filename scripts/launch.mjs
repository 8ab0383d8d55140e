// Installs the packages and compiles, if necessary, then runs a program in this process:
//   node scripts/launch.mjs [PROGRAM [ARGUMENT...]]
// PROGRAM is a path relative to the project's root. If nothing is to be done, the launcher prints nothing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const fromRoot = (...parts) => join(root, ...parts);

const [program, ...args] = process.argv.slice(2);
if (program?.startsWith('-')) {
  log('usage: node scripts/launch.mjs [PROGRAM [ARGUMENT...]]: installs and compiles what is missing, then runs the program');
  process.exit(program === '--help' ? 0 : 2);
}
// This file uses only syntax and imports of Node 12, so that an old Node can load it and reaches this check.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 12)) {
  log(
    `cannot run on Node ${process.versions.node}: Ballast needs Node 20.12 or later; install Node 24 from https://nodejs.org or with "nvm install 24"`,
  );
  process.exit(2);
}
const { platform, arch } = process;
if (!['linux', 'darwin'].includes(platform) || !['x64', 'arm64'].includes(arch)) {
  log(
    `cannot build Ballast on ${platform}-${arch}: its packages need Linux or macOS on x64 or arm64; use a machine, a container or a virtual machine that has it`,
  );
  process.exit(2);
}
if (!isInstalled()) {
  log('installing packages (once, 430 MB) ...');
  // --include=dev: the compiler is necessary even if NODE_ENV is "production". The timeout keeps npm from retrying for minutes without a network.
  const flags = [
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=5000',
  ];
  run('npm', ['ci', ...flags], 'could not install the packages', 'ignore');
}
const build = fingerprint([
  fromRoot('tsconfig.json'),
  fromRoot('package-lock.json'),
  fromRoot('README.md'),
  ...['src', 'test', 'bench', 'scripts'].flatMap(sources),
]);
if (read(fromRoot('dist', '.built')) !== build) {
  log('compiling ...');
  // Compile to a new folder and rename it, so that a running server keeps its files until the new ones are complete.
  const fresh = fromRoot(`dist.${process.pid}`);
  const compile = [fromRoot('node_modules', 'ts-patch', 'bin', 'tspc.js'), '-p', fromRoot('tsconfig.json'), '--outDir', fresh];
  const removeFresh = () => fs.rmSync(fresh, { recursive: true, force: true });
  run(process.execPath, compile, 'could not compile', 2, removeFresh);
  run(process.execPath, [fromRoot('scripts', 'bundle.mjs'), fresh], 'could not bundle the dashboard', 2, removeFresh);
  run(process.execPath, [fromRoot('scripts', 'bundle-program.mjs'), fresh], 'could not bundle the program', 2, removeFresh);
  run(process.execPath, [fromRoot('scripts', 'bundle-pytest.mjs'), fresh], 'could not make the plugin of pytest', 2, removeFresh);
  fs.writeFileSync(join(fresh, '.built'), build);
  const old = `${fresh}.old`;
  if (fs.existsSync(fromRoot('dist'))) fs.renameSync(fromRoot('dist'), old);
  fs.renameSync(fresh, fromRoot('dist'));
  fs.rmSync(old, { recursive: true, force: true });
}
if (program) {
  process.argv = [process.execPath, fromRoot(program), ...args];
  import(pathToFileURL(fromRoot(program)).href);
}

/** Reports whether the packages of the lock file are installed. Optional packages do not install on every platform. */
function isInstalled() {
  const installed = JSON.parse(read(fromRoot('node_modules', '.package-lock.json')) || '{"packages":{}}').packages;
  const locked = Object.entries(JSON.parse(read(fromRoot('package-lock.json'))).packages);
  return locked.every(
    ([path, { version, optional, devOptional }]) =>
      !path || optional || devOptional || (installed[path] && installed[path].version === version),
  );
}

function read(path) {
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : undefined;
}

function sources(folder) {
  if (!fs.existsSync(fromRoot(folder))) return [];
  return fs
    .readdirSync(fromRoot(folder), { recursive: true })
    .filter(name => /\.(tsx?|[cm]js|css|html|svg|png|md|py|rb)$/.test(name))
    .sort()
    .map(name => fromRoot(folder, name));
}

function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`\0${path.slice(root.length)}\0`).update(fs.readFileSync(path));
  return hash.digest('hex');
}

function run(command, commandArgs, failure, out = 2, cleanUp = () => {}) {
  // Only the program writes to stdout (a token, a table).
  const { status, error } = spawnSync(command, commandArgs, { cwd: root, stdio: ['ignore', out, 2] });
  if (status === 0) return;
  cleanUp();
  log(`${failure}: "${[command, ...commandArgs].join(' ')}" ${error ? error.message : `ended with ${status}`}`);
  process.exit(1);
}

function log(line) {
  process.stderr.write(`ballast: ${line}\n`);
}
