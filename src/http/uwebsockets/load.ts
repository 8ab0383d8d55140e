import { createRequire } from 'node:module';

export type Uwebsockets = typeof import('uws-pack');

/** By package, in the order in which they are tried. */
const LOADERS: Readonly<Record<string, () => Uwebsockets | Promise<Uwebsockets>>> = {
  // Newer binaries, for newer systems; upstream's own package can be installed in its place. Not imported: when a CommonJS module throws,
  // Node 20 leaves a rejection behind that nobody can handle.
  'uWebSockets.js': () => createRequire(import.meta.url)('uWebSockets.js') as Uwebsockets,
  'uws-pack': () => import('uws-pack'),
};

/**
 * The library, and the first package that has a binary of it for this machine. Rejects with why none has.
 * @param headBytes limit of a request's head
 */
export async function loadUwebsockets(headBytes: number): Promise<{ uws: Uwebsockets; from: string }> {
  // Read by the library when it is loaded.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(headBytes);
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

/** What the loader of binaries says: the packages put a text about supported systems before it. */
function reasonOf(message: string): string {
  const lines = message.split('\n').filter(line => /\bError: |cannot|not found/i.test(line));
  return (lines[0] ?? message.split('\n')[0]!).replace(/^\w*Error: /, '').slice(0, 200);
}
