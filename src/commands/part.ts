import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type FileLock, takeLock } from '../file-lock.js';

/** A file that is being written, in a folder of its own beside its final place. */
export interface Part {
  path: string;
  /** Deletes the folder with what is in it. */
  remove(): void;
}

const LOCK_FILE = 'lock';
const TRIES = 10;

/**
 * Makes the folder, PREFIX and six characters, for a file of this name, and removes those of killed processes. A process holds the
 * lock of its folder: one whose lock is free belongs to a process that is gone, in whichever container that ran.
 */
export function makePart(prefix: string, name: string): Part {
  removeStale(prefix, name);
  for (let tries = 0; tries < TRIES; tries++) {
    const folder = mkdtempSync(prefix);
    // Null: another process took this folder for a stale one, before it was locked.
    const lock = takeFolder(folder);
    if (lock) return { path: join(folder, name), remove: () => removeFolder(folder, lock) };
  }
  throw new Error(`other processes keep removing ${prefix}*`);
}

function removeStale(prefix: string, name: string): void {
  const parent = dirname(prefix);
  for (const entry of readdirSync(parent)) {
    const folder = join(parent, entry);
    if (!entry.startsWith(basename(prefix)) || !isPart(folder, name)) continue;
    const lock = takeFolder(folder);
    if (lock) removeFolder(folder, lock);
  }
}

/** Whatever else is in a folder, somebody else put it there. */
function isPart(folder: string, name: string): boolean {
  try {
    return lstatSync(folder).isDirectory() && readdirSync(folder).every(entry => entry === name || entry === LOCK_FILE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Null when another process has the folder, or removes it just now. */
function takeFolder(folder: string): FileLock | null {
  try {
    return takeLock(join(folder, LOCK_FILE));
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return null;
    throw error;
  }
}

function removeFolder(folder: string, lock: FileLock): void {
  rmSync(folder, { recursive: true, force: true });
  lock.release();
}
