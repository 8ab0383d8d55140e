import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DashboardFiles, StaticFile } from '../api/dashboard/files.js';
import { packageFolder } from '../version.js';

/** Where the build puts the front end: index.html, assets/<name>-<hash>.<extension>, and compressed copies .br and .gz beside each. */
const FOLDER = fileURLToPath(new URL('dist/src/dashboard', packageFolder));

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Reads the front end into memory, so that a request reads nothing from the disk and its path names no file. */
export function readDashboardFiles(folder = FOLDER): DashboardFiles {
  const assets = new Map<string, StaticFile>();
  const assetFolder = join(folder, 'assets');
  for (const name of existsSync(assetFolder) ? readdirSync(assetFolder) : []) {
    const file = CONTENT_TYPES[extname(name)] === undefined ? null : readFile(join(assetFolder, name));
    if (file) assets.set(`/assets/${name}`, file);
  }
  const page = join(folder, 'index.html');
  return { page: existsSync(page) ? readFile(page) : null, assets };
}

function readFile(path: string): StaticFile {
  const body = readFileSync(path);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 16);
  const copy = (extension: string) => (existsSync(path + extension) ? readFileSync(path + extension) : null);
  return { body, copies: { br: copy('.br'), gzip: copy('.gz') }, contentType: CONTENT_TYPES[extname(path)]!, hash };
}
