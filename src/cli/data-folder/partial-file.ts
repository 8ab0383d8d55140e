import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { acquireLock, type FileLock } from '../../locks.js';

/** A file that is being written, in a temporary folder beside its final path. */
export interface PartialFile {
  path: string;
  /** Deletes the temporary folder. */
  remove(): void;
}

const LOCK_FILE = 'lock';
const MAX_ATTEMPTS = 10;

/**
 * Creates a temporary folder, named PREFIX and six characters, for a file of this name. Removes the folders of killed processes. A process
 * holds the lock of its folder: a free lock means that the process has ended, also in another container.
 */
export function createPartialFile(prefix: string, name: string): PartialFile {
  removeStale(prefix, name);
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const folder = mkdtempSync(prefix);
    // Null: another process took the new folder for a stale one before it was locked.
    const lock = lockFolder(folder);
    if (lock) return { path: join(folder, name), remove: () => removeFolder(folder, lock) };
  }
  throw new Error(`cannot create a folder ${prefix}*: other processes removed it ${MAX_ATTEMPTS} times; try again`);
}

function removeStale(prefix: string, name: string): void {
  const parent = dirname(prefix);
  for (const entry of readdirSync(parent)) {
    const folder = join(parent, entry);
    if (!entry.startsWith(basename(prefix)) || !isPartialFolder(folder, name)) continue;
    const lock = lockFolder(folder);
    if (lock) removeFolder(folder, lock);
  }
}

/** A folder with any other entry was not made by Ballast. LMDB keeps a lock beside its file. */
function isPartialFolder(folder: string, name: string): boolean {
  try {
    return lstatSync(folder).isDirectory() && readdirSync(folder).every(entry => [name, `${name}-lock`, LOCK_FILE].includes(entry));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Returns null when another process holds the folder or is removing it. */
function lockFolder(folder: string): FileLock | null {
  try {
    return acquireLock(join(folder, LOCK_FILE));
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return null;
    throw error;
  }
}

function removeFolder(folder: string, lock: FileLock): void {
  rmSync(folder, { recursive: true, force: true });
  lock.release();
}
