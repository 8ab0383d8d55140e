import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientProgram, StaticFile } from '../api/static-file.js';
import { packageFolder, version } from '../version.js';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
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

/** Reads the program of a CI node, where the build puts it. */
export function readClientProgram(): ClientProgram {
  const file = readStaticFile(fileURLToPath(new URL('dist/src/ballast.mjs', packageFolder)));
  return {
    version,
    file,
    checksum: createHash('sha256')
      .update(file?.body ?? '')
      .digest('hex'),
  };
}
