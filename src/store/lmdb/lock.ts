import { join } from 'node:path';
import { acquireLock, type FileLock, lockHolder } from '../../file-lock.js';

/**
 * Makes this process the only server of a folder, because two servers would hand out every queue twice. Commands on the folder need
 * the lock only to repair it. Throws a sentence when another process has the lock.
 */
export function lockFolder(dataDir: string): FileLock {
  const path = join(dataDir, 'serve.lock');
  const lock = acquireLock(path);
  if (!lock) {
    throw new Error(
      `cannot take ${dataDir}: another Ballast serves this folder${lockHolder(path)}; stop it, or choose another with BALLAST_DATA_DIR`,
    );
  }
  return lock;
}
