// Bundles the dashboard (src/dashboard) and the guides (src/docs) into FOLDER/src/dashboard, and writes the guides to FOLDER/src/docs:
//   node scripts/bundle.mjs FOLDER
// Every file but index.html has the hash of its content in its name. Each but the pictures has compressed copies beside it (.br, .gz).
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licencesOf } from './bundled-packages.mjs';
import { writeCompressedCopies } from './compressed-copies.mjs';
import { renderGuides } from './guides.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src', 'dashboard');
const out = join(process.argv[2], 'src', 'dashboard');

rmSync(join(out, 'assets'), { recursive: true, force: true });
mkdirSync(join(out, 'assets'), { recursive: true });
const pictures = new Map(readdirSync(join(root, 'src', 'docs', 'images')).map(name => [name, writePicture(name)]));
const rendered = renderGuides(root, pictures);
writeTexts(join(process.argv[2], 'src', 'docs'));
const guides = rendered.map(({ html, text, ...guide }) => ({ ...guide, path: writeAsset(`guide-${guide.name}`, '.html', html) }));
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

writeFileSync(join(out, 'licences.txt'), licencesOf(metafile));

/** The address of what an entry point was made into. */
const assets = {};
for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
  if (entryPoint !== undefined) assets[basename(entryPoint)] = `/${relative(out, join(root, path)).replaceAll('\\', '/')}`;
}
const page = readFileSync(join(source, 'index.html'), 'utf8').replace(/\{\{(.+?)\}\}/g, (_, name) => assets[name]);
writeFileSync(join(out, 'index.html'), page);

for (const name of ['index.html', ...readdirSync(join(out, 'assets')).map(name => join('assets', name))]) {
  // A picture is compressed already.
  if (extname(name) !== '.png') writeCompressedCopies(join(out, name));
}

/** Writes the guides as Markdown, and their list for programs that read (https://llmstxt.org). */
function writeTexts(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [, summary] = /^# .+\n\n([^#`]+?)\n\n/.exec(readFileSync(join(root, 'README.md'), 'utf8'));
  const lines = ['# Ballast', '', `> ${summary.replaceAll('\n', ' ')}`];
  let last = '';
  for (const { name, group, title, about, text } of rendered) {
    writeFileSync(join(folder, `${name}.md`), text);
    if (group !== last) lines.push('', `## ${group}`, '');
    last = group;
    lines.push(`- [${title}](/docs/${name}.md): ${about}`);
    if (name === 'api') lines.push('- [OpenAPI](/v1/openapi.json): each request and answer of the API');
  }
  writeFileSync(join(folder, 'llms.txt'), `${lines.join('\n')}\n`);
}

/** Copies a picture of the guides, a PNG: {path, width, height}. */
function writePicture(name) {
  const bytes = readFileSync(join(root, 'src', 'docs', 'images', name));
  // The header chunk is the first one.
  return { path: writeAsset(basename(name, '.png'), '.png', bytes), width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Writes a file with the hash of its content in its name. Returns its address. */
function writeAsset(name, extension, content) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const path = `assets/${name}-${hash}${extension}`;
  writeFileSync(join(out, path), content);
  return `/${path}`;
}
