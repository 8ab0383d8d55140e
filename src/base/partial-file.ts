import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock } from './locks.js';

/** A file that is being written, in a temporary folder beside its final path. */
export interface PartialFile {
  path: string;
  /** Deletes the temporary folder, unless it has files of others. */
  remove(): Promise<void>;
}

/**
 * Creates the temporary folder of a file with this name, or takes over that of a killed process. A process holds the lock of its folder: a
 * free lock means that the process has ended, also in another container. Throws if another process holds it.
 */
export async function createPartialFile(folder: string, name: string): Promise<PartialFile> {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, name);
  const lockPath = join(folder, 'lock');
  const lock = acquireLock(lockPath);
  if (!lock) throw new Error(`another process is writing it, in ${folder}; wait until that process has ended`);
  const removeFiles = async () => {
    // Beside the file of a store are LMDB's lock and the one for opening it. To remove a large file takes long, and a server must go on.
    for (const file of [path, `${path}-lock`, join(folder, 'open.lock')]) await rm(file, { force: true });
  };
  await removeFiles();
  return {
    path,
    async remove() {
      await removeFiles();
      rmSync(lockPath, { force: true });
      if (readdirSync(folder).length === 0) rmdirSync(folder);
      lock.release();
    },
  };
}
