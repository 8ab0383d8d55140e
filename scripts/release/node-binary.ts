import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './npm.js';

/** Processors for which there are archives of the server. */
export const PROCESSORS = ['x64', 'arm64'] as const;
export type Processor = (typeof PROCESSORS)[number];

/** What Debian and OCI call a processor. */
export const ARCHITECTURES: Record<Processor, string> = { x64: 'amd64', arm64: 'arm64' };

/** The Node in the archives: the newest release with long-term support for which uWebSockets.js has a binary. */
const NODE_VERSION = '24.22.3';
/** Of the packages of the registry of npm that have its program for Linux with glibc, as nodejs.org builds it. */
const INTEGRITY: Record<Processor, string> = {
  x64: 'sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==',
  arm64: 'sha512-IZx0J52/1NDwAsY2iyWR9nlPIYuYviTWetjj8+ElvYQh2+XRhLfCfkbFEF/2O5vGI2hcUbyPNHV+nz342FbJXw==',
};

/** The version of its binary interface, which is in the names of native modules. */
export const NODE_ABI = '137';
export const NODE_MAJOR = NODE_VERSION.split('.')[0]!;

/** Downloads the package with Node for a processor to a folder, and returns its path. Throws if it is not the one that is expected. */
export function downloadNode(processor: Processor, folder: string): string {
  const name = `node-linux-${processor}`;
  const file = join(folder, npm(folder, 'pack', `${name}@${NODE_VERSION}`, '--pack-destination', folder).trim());
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (integrity !== INTEGRITY[processor])
    throw new Error(
      `${name}@${NODE_VERSION} has the integrity ${integrity}, not ${INTEGRITY[processor]}: do not use it, and find out who changed it`,
    );
  return file;
}
