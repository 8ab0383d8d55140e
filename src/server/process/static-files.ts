import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolder, version } from '../../base/version.js';
import { type ClientFile, type ClientFiles, clientFileNames } from '../api/client-files.js';
import type { StaticFile } from '../api/static-file.js';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.py': 'text/x-python; charset=utf-8',
};

/** Reads a file and its compressed copies, .br and .gz, beside it. Null: there is none, or it has no type to be sent with. */
export function readStaticFile(path: string): StaticFile | null {
  const contentType = CONTENT_TYPES[extname(path)];
  if (contentType === undefined || !existsSync(path)) return null;
  const body = readFileSync(path);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 16);
  const copy = (extension: string) => (existsSync(path + extension) ? readFileSync(path + extension) : null);
  return { body, copies: { br: copy('.br'), gzip: copy('.gz') }, contentType, hash };
}

/** Reads what CI nodes fetch, where the build puts it. */
export function readClientFiles(): ClientFiles {
  const files = new Map<string, ClientFile>();
  for (const name of clientFileNames.values()) {
    const file = readStaticFile(fileURLToPath(new URL(`dist/src/${name}`, packageFolder)));
    if (file) files.set(name, { ...file, checksum: createHash('sha256').update(file.body).digest('hex') });
  }
  return { version, files };
}

/** Reads the guides as Markdown, and llms.txt, by their paths. */
export function readGuides(): ReadonlyMap<string, StaticFile> {
  const folder = fileURLToPath(new URL('dist/src/docs', packageFolder));
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(names.map(name => [name === 'llms.txt' ? '/llms.txt' : `/docs/${name}`, readStaticFile(join(folder, name))!]));
}
