import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { groupBy } from '../../src/base/group-by.js';
import { packOf } from '../../src/dashboard/site/packs.js';
import { demoPage, type Guide, indexPage, pageOf, sectionsOf } from './guide-pages.js';
import type { Recorded } from './recorder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const source = join(root, 'src/dashboard/site');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

interface Picture {
  path: string;
  width: number;
  height: number;
}
type RenderGuides = (root: string, pictures: Map<string, Picture>, addressOf: (name?: string) => string) => Guide[];
/** Plain JavaScript, because the build runs it before anything is compiled. */
const { renderGuides } = (await import(new URL('../../../scripts/guides.mjs', import.meta.url).href)) as { renderGuides: RenderGuides };

/**
 * Writes the site into an empty folder: the guides as pages, and the dashboard over recorded answers. All of it works from a folder and below any path of
 * a web server. Files in assets/ have the hash of their content in their names.
 */
export async function makeSite(folder: string, recorded: readonly [key: string, recorded: Recorded][], recordedAt: number): Promise<void> {
  for (const name of ['assets', 'docs', 'demo/answers']) mkdirSync(join(folder, name), { recursive: true });
  const packs = writePacks(join(folder, 'demo/answers'), recorded);
  const guides = renderGuides(root, writePictures(folder), name => (name === undefined ? '../index.html' : `${name}.html`));
  const sections = writeAsset(folder, 'guides.js', `document.currentScript.given=${JSON.stringify(sectionsOf(guides))}`);
  const bundled = await bundle(folder, { PACKS: packs, RECORDED_AT: recordedAt, SECTIONS: basename(sections) });
  const frame = { version, style: bundled['site.css']!, icon: bundled['favicon.svg']! };
  const ofGuides = { ...frame, script: bundled['guides.ts']! };
  writeFileSync(join(folder, 'index.html'), indexPage(guides, ofGuides));
  for (const guide of guides) writeFileSync(join(folder, 'docs', `${guide.name}.html`), pageOf(guide, guides, ofGuides));
  writeFileSync(join(folder, 'demo/index.html'), demoPage(recordedAt, { ...frame, script: bundled['demo.ts']! }));
  copyFileSync(join(root, 'dist/src/dashboard/licences.txt'), join(folder, 'licences.txt'));
}

/** Writes the packs of the answers as scripts. Returns their names. */
function writePacks(folder: string, recorded: readonly [key: string, recorded: Recorded][]): string[] {
  const packs = groupBy(recorded, ([key]) => packOf(key));
  for (const [name, answers] of packs) {
    const text = gzipSync(JSON.stringify(Object.fromEntries(answers)), { level: 9 }).toString('base64');
    writeFileSync(join(folder, `${name}.js`), `document.currentScript.given="${text}"\n`);
  }
  return [...packs.keys()].sort();
}

/** Bundles the dashboard of the demo and the search of the guides. Returns the paths by the names of their sources. */
async function bundle(folder: string, values: Record<string, unknown>): Promise<Record<string, string>> {
  const constants = Object.entries({ ...values, GUIDES: [] }).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const shared = {
    absWorkingDir: root,
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    // Pages from a folder may load scripts, and no modules.
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    legalComments: 'none',
    // esbuild 0.28 cannot define a list together with `inject`.
    banner: { js: `const ${constants.join()};` },
    metafile: true,
    logLevel: 'warning',
  } satisfies BuildOptions;
  const demo = await build({
    ...shared,
    entryPoints: [join(source, 'demo.ts')],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    inject: ['fetch.ts', 'address.ts', 'clock.ts'].map(name => join(source, name)),
    plugins: [
      {
        name: 'footer',
        setup: ({ onResolve }) => onResolve({ filter: /^\.\/footer\.js$/ }, () => ({ path: join(source, 'footer.tsx') })),
      },
    ],
  });
  const others = await build({
    ...shared,
    entryPoints: [...['guides.ts', 'site.css'].map(name => join(source, name)), join(source, '../favicon.svg')],
  });
  const outputs = [demo, others].flatMap(({ metafile }) => Object.entries(metafile.outputs));
  return Object.fromEntries(
    outputs.flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[basename(entryPoint), relative(folder, join(root, path)).replaceAll('\\', '/')]],
    ),
  );
}

function writePictures(folder: string): Map<string, Picture> {
  const images = join(root, 'src/docs/images');
  return new Map(
    readdirSync(images).map(name => {
      const bytes = readFileSync(join(images, name));
      // The header chunk of a PNG is the first one.
      return [name, { path: `../${writeAsset(folder, name, bytes)}`, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }];
    }),
  );
}

/** Writes a file with the hash of its content in its name. Returns its path from the root of the site on. */
function writeAsset(folder: string, name: string, content: string | Buffer): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const path = `assets/${name.replace(/(?=\.\w+$)/, `-${hash}`)}`;
  writeFileSync(join(folder, path), content);
  return path;
}
