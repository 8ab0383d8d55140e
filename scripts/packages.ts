import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { writeChecksums } from './release/checksums.js';
import { npm } from './release/npm.js';
import { wheelOf } from './release/wheel.js';

/** Packs the server, the client and the plugins that run in Node, each with a list of what is in it, the plugin of pytest, and the checksums of all files. */

/** A list of components in the format CycloneDX, as far as it is changed here. */
interface Sbom {
  /** Other ones each time. */
  serialNumber?: string;
  metadata: { timestamp?: string; component: { 'bom-ref': string; name: string; description: string; purl: string } };
  components: { 'bom-ref': string; name: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = new Command('npm run packages --')
  .description(
    'Pack the server (ballast), the client (ballast-client) and the plugins of Jest, Playwright and Vitest for a registry of npm, with lists of their components (SBOM, CycloneDX), the plugin of pytest for pip, and SHA256SUMS.',
  )
  .argument('[folder]', 'where to write the files', 'packages')
  .parse();

const folder = resolve(root, program.args[0] ?? 'packages');
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  license: string;
  engines: object;
  dependencies: object;
  optionalDependencies: object;
};
const { version, license, engines, dependencies, optionalDependencies } = own;
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, { version: string }> };
/** The names of the packages whose code is in the program of the server, and in each file for a CI node. */
const bundled = JSON.parse(readFileSync(join(root, 'dist/bundled-packages.json'), 'utf8')) as Record<string, string[]>;
mkdirSync(folder, { recursive: true });

// With --omit=dev npm leaves out what a development package needs, too.
const all = JSON.parse(npm(root, 'sbom', '--package-lock-only', '--sbom-format=cyclonedx')) as Sbom;
pack(root);
writeSbom(
  'ballast',
  new Set([...bundled.program!.map(refOf), ...neededBy(Object.keys({ ...dependencies, ...optionalDependencies }).map(refOf))]),
);

const about = 'Ballast, which splits test suites over the parallel nodes of a CI build';
packFile('ballast-client', 'ballast.mjs', `The client of ${about}`, '`ballast --help` lists its commands.', {
  bin: { ballast: 'ballast.mjs' },
});
for (const runner of ['Jest', 'Playwright', 'Vitest']) {
  const name = `ballast-${runner.toLowerCase()}`;
  const usage = `The page \`/docs/runner-plugins\` of your Ballast server has the line for the configuration of ${runner}.`;
  packFile(name, `${name}.mjs`, `Has ${runner} run the files that a node gets from ${about}`, usage, { exports: `./${name}.mjs` });
}

// A wheel needs no list of its components: it is one file, and what it needs is Python and pytest.
const plugin = join(root, 'dist/src/ballast_pytest.py');
const wheel = wheelOf(version, readFileSync(plugin), readFileSync(join(root, 'LICENSE')));
writeFileSync(join(folder, wheel.name), wheel.bytes);
copyFileSync(plugin, join(folder, 'ballast_pytest.py'));

process.stdout.write(
  `${writeChecksums(folder)
    .map(name => join(folder, name))
    .join('\n')}\n`,
);

/** Packs a file that needs nothing but Node, and copies it. @param more what package.json has besides */
function packFile(name: string, file: string, description: string, usage: string, more: object): void {
  const source = join(root, 'dist/src', file);
  const made = mkdtempSync(join(tmpdir(), 'ballast-packages-'));
  try {
    writeFileSync(join(made, 'package.json'), JSON.stringify({ name, version, description, license, ...more, engines }, null, 2));
    writeFileSync(join(made, 'README.md'), `# ${name}\n\n${description}. ${usage}\n`);
    copyFileSync(source, join(made, file));
    copyFileSync(join(root, 'LICENSE'), join(made, 'LICENSE'));
    pack(made);
  } finally {
    rmSync(made, { recursive: true });
  }
  writeSbom(name, new Set(bundled[file]!.map(refOf)));
  copyFileSync(source, join(folder, file));
}

function pack(from: string): void {
  npm(from, 'pack', '--ignore-scripts', '--pack-destination', folder);
}

/** The name by which a list of components refers to a package in the root. */
function refOf(name: string): string {
  return `${name}@${packages[`node_modules/${name}`]!.version}`;
}

/** These components, and all that they need. */
function neededBy(refs: readonly string[]): Set<string> {
  const needed = new Set(refs);
  const needs = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  for (const ref of needed) for (const other of needs.get(ref) ?? []) needed.add(other);
  return needed;
}

function writeSbom(name: string, refs: ReadonlySet<string>): void {
  const ref = `${name}@${version}`;
  const { serialNumber, ...same } = all;
  const { component, timestamp, ...about } = all.metadata;
  const sbom: Sbom = {
    ...same,
    metadata: { ...about, component: { ...component, 'bom-ref': ref, name, purl: `pkg:npm/${ref}` } },
    components: all.components.filter(each => refs.has(each['bom-ref'])),
    dependencies: all.dependencies
      .filter(each => each.ref === component['bom-ref'] || refs.has(each.ref))
      .map(each => ({
        ref: each.ref === component['bom-ref'] ? ref : each.ref,
        dependsOn: each.dependsOn.filter(other => refs.has(other)),
      })),
  };
  writeFileSync(join(folder, `${name}-${version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
}
