import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';

const PREFIX = 'unix:';

/** The path of a socket in the file system, where the host is one (unix:/run/ballast/ballast.sock); else null. */
export function unixPath(host: string): string | null {
  return host.startsWith(PREFIX) ? host.slice(PREFIX.length) : null;
}

export function removeUnixPath(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Removes a socket that nobody listens on any more. Throws a sentence when the path is taken.
 * @param settings to choose another with
 */
export async function freeUnixPath(path: string, settings: string): Promise<void> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return;
  if (!stats.isSocket()) throw new Error(`cannot listen on ${path}: there is a file, and no socket; choose another with ${settings}`);
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch {
    removeUnixPath(path);
    return;
  } finally {
    socket.destroy();
  }
  throw new Error(`cannot listen on ${path}: another process does; choose another with ${settings}`);
}
