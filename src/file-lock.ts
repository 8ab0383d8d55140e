import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { tryLock } from './try-lock.js';

/**
 * An exclusive lock on a file. The kernel drops it when the process ends, however it ends. It holds across containers that
 * share a folder. It belongs to one open file: two locks in the same process also exclude each other.
 */
export interface FileLock {
  release(): void;
}

/** Another process may remove the file while it is being locked: then the next file of that name is tried. */
const MAX_ATTEMPTS = 100;

/**
 * Locks a file, which is created if missing. Returns null when another holder has the lock. The file names the holder. It must
 * stay after the release: a process that still has a deleted file open would lock that one. Throws an Error with a sentence
 * when the file cannot be locked at all.
 */
export function acquireLock(path: string): FileLock | null {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const fd = openLocked(path);
    if (fd === null) return null;
    if (fstatSync(fd).nlink > 0) {
      writeHolder(fd);
      return { release: () => closeSync(fd) };
    }
    closeSync(fd);
  }
  throw new Error(`cannot lock ${path}: other processes removed it ${MAX_ATTEMPTS} times; try again`);
}

/** The last holder of the lock, as ` (process 12 on ci-host)`; empty when the file does not name it. */
export function lockHolder(path: string): string {
  try {
    const [, pid, host] = /^(\d+) (\S+)\n$/.exec(readFileSync(path, 'utf8')) ?? [];
    return pid === undefined ? '' : ` (process ${pid} on ${host})`;
  } catch {
    return '';
  }
}

function openLocked(path: string): number | null {
  let fd: number | null = null;
  try {
    // No link is followed: in a folder that all users can write to, it may lead to a file that must not be written.
    fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    if (tryLock(fd)) return fd;
    closeSync(fd);
    return null;
  } catch (error) {
    if (fd !== null) closeSync(fd);
    throw new Error(
      `cannot lock ${path}: ${(error as Error).message}; this user must be able to write it, on a file system that has locks`,
      { cause: error },
    );
  }
}

function writeHolder(fd: number): void {
  try {
    ftruncateSync(fd);
    writeSync(fd, `${process.pid} ${hostname()}\n`, 0);
  } catch {
    // The disk may be full: the lock holds all the same.
  }
}
