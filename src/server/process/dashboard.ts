import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { packageFolder } from '../../base/version.js';
import type { DashboardFiles, StaticFile } from '../api/static-file.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { createOperatorLink } from '../engine/sign-in/sign-in.js';
import type { Config } from './settings.js';
import { readStaticFile } from './static-files.js';

/** The addresses of the open ports. */
interface Ports {
  url: string;
  adminUrl: string | null;
}

/** Notes where the dashboard is, for the links that commands make. Returns that address. */
export async function noteAddress(
  { dashboard, publicUrl }: Config,
  { url, adminUrl }: Ports,
  { values }: Store,
  log: Logger,
): Promise<string> {
  const address = dashboard === 'admin' ? reachableUrl(adminUrl!) : (publicUrl ?? reachableUrl(url));
  // A store that refuses writes is reported elsewhere.
  if ((await values.get('address')) !== address)
    await values.put('address', address).catch((err: unknown) => log.error({ err }, 'could not note the address of the dashboard'));
  return address;
}

/** The address that signs an operator in, once. */
export async function newSignInUrl({ signIns }: Store, address: string, now: Millis): Promise<string> {
  return signInUrl(address, (await createOperatorLink(signIns, now)).secret);
}

/** Folder in which the build puts the front end: index.html, assets/<name>-<hash>.<extension>, and compressed copies .br and .gz beside each. */
const FOLDER = fileURLToPath(new URL('dist/src/dashboard', packageFolder));

/** Reads the front end into memory, so that a request reads nothing from the disk and its path names no file. */
export function readDashboardFiles(folder = FOLDER): DashboardFiles {
  const assets = new Map<string, StaticFile>();
  const assetFolder = join(folder, 'assets');
  for (const name of existsSync(assetFolder) ? readdirSync(assetFolder) : []) {
    const file = readStaticFile(join(assetFolder, name));
    if (file) assets.set(`/assets/${name}`, file);
  }
  const page = join(folder, 'index.html');
  return { page: readStaticFile(page), assets };
}

/** The address at which this machine reaches a listener: one that listens on all addresses is reached at the loopback one. */
export function reachableUrl(url: string): string {
  return url.replace(
    /^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=:|$)/,
    (_, scheme: string, host: string) => scheme + (host === '[::]' ? '[::1]' : '127.0.0.1'),
  );
}

/** The address of a sign-in link. The secret is in the fragment, which browsers send to no server. A Unix socket has no address: only the path. */
export function signInUrl(dashboardUrl: string, secret: string): string {
  return `${dashboardUrl.startsWith('unix:') ? '' : dashboardUrl}/sign-in#${secret}`;
}
