import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { acquireLock, lockHolder } from '../file-lock.js';

const PREFIX = 'unix:';

/** The path of a socket in the file system, where the host is one (unix:/run/ballast/ballast.sock); else null. */
export function unixPath(host: string): string | null {
  return host.startsWith(PREFIX) ? host.slice(PREFIX.length) : null;
}

/** The path of a socket that only this process may listen on. */
export interface UnixPath {
  /** Removes the socket and lets other processes listen there. */
  release(): void;
}

/**
 * Takes a path to listen on by locking a file beside it, and removes the socket of a killed process. Throws an Error with a sentence
 * when the path is in use, or when that is unknown.
 * @param settings to choose another with
 */
export async function takeUnixPath(path: string, settings: string): Promise<UnixPath> {
  const another = `choose another with ${settings}`;
  const lockPath = `${path}.lock`;
  const lock = acquireLock(lockPath);
  if (!lock) throw new Error(`cannot listen on ${path}: another process listens there${lockHolder(lockPath)}; ${another}`);
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && !stats.isSocket()) throw new Error(`cannot listen on ${path}: there is a file that is not a socket; ${another}`);
    if (stats) await assertUnused(path, another);
    rmSync(path, { force: true });
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    release() {
      rmSync(path, { force: true });
      lock.release();
    },
  };
}

/** Throws when a program listens there without the lock. It may be any program. */
async function assertUnused(path: string, another: string): Promise<void> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return;
    // EAGAIN: a process listens, but is too busy to accept.
    if (code !== 'EAGAIN')
      throw new Error(
        `cannot listen on ${path}: it is unknown whether another process listens there (${message}); remove that socket, or ${another}`,
        { cause: error },
      );
  } finally {
    socket.destroy();
  }
  throw new Error(`cannot listen on ${path}: another process listens there; ${another}`);
}
