import { createRequire } from 'node:module';
import { limits } from '../../../protocol/limits.js';

export type Uwebsockets = typeof import('uWebSockets.js');

const require = createRequire(import.meta.url);
const [nodeMajor] = process.versions.node.split('.', 1);

/**
 * Packages in the order of attempts. The first has newer binaries, which need a newer glibc; the authors' own package can be installed in
 * its place. The second has the binary for this system and Node only. They are not loaded with import(): if a CommonJS module throws,
 * Node 20 leaves a rejection behind that nobody can handle.
 */
const PACKAGES = ['uWebSockets.js', `@uwsjs/${process.platform}-${process.arch}-${nodeMajor}`];

/** Loads the library from the first package that has a binary for this machine. If none has, rejects with the reason of each. */
export async function loadUwebsockets(): Promise<{ uws: Uwebsockets; packageName: string }> {
  // The library reads this variable while it loads.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(limits.headBytes);
  const reasons: string[] = [];
  for (const packageName of PACKAGES) {
    try {
      return { uws: require(packageName) as Uwebsockets, packageName };
    } catch (error) {
      reasons.push(`${packageName}: ${reasonOf((error as Error).message)}`);
    }
  }
  throw new Error(reasons.join('; '));
}

/** Extracts the loader's own message. The first package puts a text about supported systems before it. */
function reasonOf(message: string): string {
  const lines = message.split('\n').filter(line => /\bError: |cannot|not found/i.test(line));
  return (lines[0] ?? message.split('\n')[0]!).replace(/^\w*Error: /, '').slice(0, 200);
}
