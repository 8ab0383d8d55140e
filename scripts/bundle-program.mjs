// Bundles the compiled program in FOLDER, in place: what a process or thread loads is a few files instead of 250. Reading and linking these
// would take longer than all else that a start does. Also makes the files of a CI node: src/ballast.mjs, and one for each test runner that loads Ballast.
//   node scripts/bundle-program.mjs FOLDER
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licencesOf, packagesIn } from './bundled-packages.mjs';
import { writeCompressedCopies } from './compressed-copies.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2], 'src');

/** The files that are started by their path: the program, and the modules of threads and processes of its own. */
const entryPoints = [
  'cli/program.js',
  'server/process/worker.js',
  'server/process/snapshot-process.js',
  'cli/server/data-folder/check-thread.js',
  'cli/server/data-folder/copy-process.js',
];

/** Packages that load files of their own, and what these share with Ballast. All others are development packages. */
const { dependencies, optionalDependencies, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const external = Object.keys({ ...dependencies, ...optionalDependencies });

const hooks = ['ballast_piece.py', 'ballast_piece.rb'];
// For what is not bundled, such as tests.
for (const hook of hooks) copyFileSync(join(root, 'src', 'node', 'pieces', hook), join(folder, 'node', 'pieces', hook));
const withHooks = {
  name: 'hooks',
  setup: ({ onLoad }) =>
    onLoad({ filter: /pieces[\\/]hook-text\.js$/ }, () => {
      const texts = hooks.map(hook => [hook, readFileSync(join(root, 'src', 'node', 'pieces', hook), 'utf8')]);
      return { contents: `const texts = ${JSON.stringify(Object.fromEntries(texts))};\nexport const hookText = name => texts[name];` };
    }),
};

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: entryPoints.map(path => join(folder, path)),
  outbase: folder,
  outdir: folder,
  allowOverwrite: true,
  // Commands are loaded when they are called.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  external,
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  // CommonJS packages require modules of Node.
  banner: { js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);" },
  plugins: [withHooks],
  metafile: true,
  logLevel: 'warning',
});

writeFileSync(join(folder, 'licences.txt'), licencesOf(metafile));

const licenceOfBallast = readFileSync(join(root, 'LICENSE'), 'utf8');
/** The names of the packages in each bundle, for the lists of what is in it, which scripts/packages.ts makes. */
const packages = { program: packagesIn(metafile) };

/** Makes one file that needs nothing but Node, and compressed copies of it. The server hands them out. */
async function bundleForNodes(name, entryPoint, options) {
  const file = join(folder, name);
  const bundled = await build({
    absWorkingDir: root,
    entryPoints: [join(folder, entryPoint)],
    outfile: file,
    bundle: true,
    platform: 'node',
    minify: true,
    // There is no package.json beside it.
    plugins: [
      withHooks,
      {
        name: 'version',
        setup: ({ onLoad }) => onLoad({ filter: /base[\\/]version\.js$/ }, () => ({ contents: `export const version = '${version}';` })),
      },
    ],
    metafile: true,
    logLevel: 'warning',
    ...options,
  });
  packages[name] = packagesIn(bundled.metafile);
  const licences = licencesOf(bundled.metafile).replaceAll('*/', '* /');
  appendFileSync(file, `/*\nBallast ${version}\n\n${licenceOfBallast}${licences && `\nIt contains:\n\n${licences}`}*/\n`);
  writeCompressedCopies(file);
}

// As a script instead of a module, and with the syntax of Node 12, an older Node reaches the check of its version: a module with an import
// that it lacks is not run at all.
await bundleForNodes('ballast.mjs', 'cli/client.js', {
  format: 'iife',
  target: 'node12',
  define: { 'import.meta.url': 'url' },
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'; const { url } = import.meta, require = createRequire(url);",
  },
});
// What a test runner loads itself.
for (const runner of ['playwright', 'vitest', 'jest', 'node-test'])
  await bundleForNodes(`ballast-${runner}.mjs`, `node/runners/${runner}.js`, { format: 'esm', target: 'node20.12' });

writeFileSync(join(folder, '..', 'bundled-packages.json'), JSON.stringify(packages));
