import { createRequire } from 'node:module';
import { limits } from '../../limits.js';

export type Uwebsockets = typeof import('uws-pack');

/** Loaders by package name, in the order of attempts. */
const LOADERS: Readonly<Record<string, () => Uwebsockets | Promise<Uwebsockets>>> = {
  // Newer binaries, which need a newer glibc. The authors' own package can be installed in its place. It is not loaded with import():
  // if a CommonJS module throws, Node 20 leaves a rejection behind that nobody can handle.
  'uWebSockets.js': () => createRequire(import.meta.url)('uWebSockets.js') as Uwebsockets,
  'uws-pack': () => import('uws-pack'),
};

/** Loads the library from the first package that has a binary for this machine. If none has, rejects with the reason of each. */
export async function loadUwebsockets(): Promise<{ uws: Uwebsockets; packageName: string }> {
  // The library reads this variable while it loads.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(limits.headBytes);
  const reasons: string[] = [];
  for (const [packageName, load] of Object.entries(LOADERS)) {
    try {
      return { uws: await load(), packageName };
    } catch (error) {
      reasons.push(`${packageName}: ${reasonOf((error as Error).message)}`);
    }
  }
  throw new Error(reasons.join('; '));
}

/** Extracts the loader's own message. Both packages put a text about supported systems before it. */
function reasonOf(message: string): string {
  const lines = message.split('\n').filter(line => /\bError: |cannot|not found/i.test(line));
  return (lines[0] ?? message.split('\n')[0]!).replace(/^\w*Error: /, '').slice(0, 200);
}
