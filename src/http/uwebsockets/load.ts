import { createRequire } from 'node:module';
import { limits } from '../../limits.js';

export type Uwebsockets = typeof import('uws-pack');

/** Loaders by package, in the order in which they are tried. */
const LOADERS: Readonly<Record<string, () => Uwebsockets | Promise<Uwebsockets>>> = {
  // Newer binaries, which need a newer glibc; the authors' own package can be installed in its place. Not imported: when a CommonJS
  // module throws, Node 20 leaves a rejection behind that nobody can handle.
  'uWebSockets.js': () => createRequire(import.meta.url)('uWebSockets.js') as Uwebsockets,
  'uws-pack': () => import('uws-pack'),
};

/** Loads the library from the first package that has a binary for this machine. Rejects with the reason of each package when none has. */
export async function loadUwebsockets(): Promise<{ uws: Uwebsockets; from: string }> {
  // The library reads this variable when it is loaded.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(limits.headBytes);
  const reasons: string[] = [];
  for (const [from, load] of Object.entries(LOADERS)) {
    try {
      return { uws: await load(), from };
    } catch (error) {
      reasons.push(`${from}: ${reasonOf((error as Error).message)}`);
    }
  }
  throw new Error(reasons.join('; '));
}

/** The loader's own message: both packages put a text about supported systems before it. */
function reasonOf(message: string): string {
  const lines = message.split('\n').filter(line => /\bError: |cannot|not found/i.test(line));
  return (lines[0] ?? message.split('\n')[0]!).replace(/^\w*Error: /, '').slice(0, 200);
}
