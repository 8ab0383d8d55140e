// Bundles the dashboard (src/dashboard) and the guides (src/docs) into FOLDER/src/dashboard:
//   node scripts/bundle.mjs FOLDER
// Every file but index.html has the hash of its content in its name. Each has compressed copies beside it (.br, .gz).
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { renderGuides } from './guides.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src', 'dashboard');
const out = join(process.argv[2], 'src', 'dashboard');

rmSync(join(out, 'assets'), { recursive: true, force: true });
mkdirSync(join(out, 'assets'), { recursive: true });
const guides = renderGuides(root).map(({ html, ...guide }) => {
  const hash = createHash('sha256').update(html).digest('hex').slice(0, 8);
  const path = `assets/guide-${guide.name}-${hash}.html`;
  writeFileSync(join(out, path), html);
  return { ...guide, path: `/${path}` };
});
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['main.tsx', 'style.css', 'favicon.svg'].map(name => join(source, name)),
  outdir: join(out, 'assets'),
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.svg': 'copy' },
  bundle: true,
  format: 'esm',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  minify: true,
  legalComments: 'none',
  define: { GUIDES: JSON.stringify(guides) },
  metafile: true,
  logLevel: 'warning',
});

/** The address of what an entry point was made into. */
const assets = {};
for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
  if (entryPoint !== undefined) assets[basename(entryPoint)] = `/${relative(out, join(root, path)).replaceAll('\\', '/')}`;
}
const page = readFileSync(join(source, 'index.html'), 'utf8').replace(/\{\{(.+?)\}\}/g, (_, name) => assets[name]);
writeFileSync(join(out, 'index.html'), page);

for (const name of ['index.html', ...readdirSync(join(out, 'assets')).map(name => join('assets', name))]) {
  const bytes = readFileSync(join(out, name));
  writeFileSync(join(out, `${name}.br`), brotliCompressSync(bytes));
  writeFileSync(join(out, `${name}.gz`), gzipSync(bytes, { level: 9 }));
}
