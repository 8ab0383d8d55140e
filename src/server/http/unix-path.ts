import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { acquireLock, type FileLock, lockHolder } from '../../base/locks.js';

const PREFIX = 'unix:';

/** Returns the path of a host such as unix:/run/ballast/ballast.sock; null for other hosts. */
export function unixPath(host: string): string | null {
  return host.startsWith(PREFIX) ? host.slice(PREFIX.length) : null;
}

/**
 * Locks a file beside the path, and removes a socket that a killed process left there. Throws if the path is in use, or if that
 * cannot be determined. While the lock is held, this process alone may listen there. Its release removes the socket.
 * @param settingNames named in error messages
 */
export async function lockUnixPath(path: string, settingNames: string): Promise<FileLock> {
  const remedy = `choose another with ${settingNames}`;
  const lockPath = `${path}.lock`;
  const lock = acquireLock(lockPath);
  if (!lock) throw new Error(`cannot listen on ${path}: another process listens there${lockHolder(lockPath)}; ${remedy}`);
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && !stats.isSocket()) throw new Error(`cannot listen on ${path}: there is a file that is not a socket; ${remedy}`);
    if (stats) await assertUnused(path, remedy);
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

/** Throws if any program listens on the socket. It may be one that takes no lock. */
async function assertUnused(path: string, remedy: string): Promise<void> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return;
    // EAGAIN: a process listens, but is too busy to accept.
    if (code !== 'EAGAIN')
      throw new Error(
        `cannot listen on ${path}: it is unknown whether another process listens there (${message}); remove that socket, or ${remedy}`,
        { cause: error },
      );
  } finally {
    socket.destroy();
  }
  throw new Error(`cannot listen on ${path}: another process listens there; ${remedy}`);
}
