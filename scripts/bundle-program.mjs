// Bundles the compiled program in FOLDER, in place: what a process or thread loads is a few files instead of 250. Reading and linking these
// would take longer than all else that a start does.
//   node scripts/bundle-program.mjs FOLDER
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2], 'src');

/** What is started by its path: the program, and what runs in threads and processes of its own. */
const entryPoints = ['cli/program.js', 'server/worker.js', 'cli/data-folder/check-thread.js', 'cli/data-folder/copy-process.js'];

/** Packages that load files of their own, and what these share with Ballast. */
const external = ['lmdb', 'msgpackr', 'piscina', 'uWebSockets.js', 'fs-native-extensions'];

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
  metafile: true,
  logLevel: 'warning',
});

const packages = new Set(Object.keys(metafile.inputs).flatMap(path => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
const licences = [...packages].map(name => `${name}\n\n${licenceOf(join(root, 'node_modules', name))}`);
writeFileSync(join(folder, 'licences.txt'), licences.join('\n'));

function licenceOf(folderOfPackage) {
  for (const name of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'License']) {
    try {
      return readFileSync(join(folderOfPackage, name), 'utf8');
    } catch {
      // Packages name the file differently.
    }
  }
  const { license } = JSON.parse(readFileSync(join(folderOfPackage, 'package.json'), 'utf8'));
  return `${license}\n`;
}
