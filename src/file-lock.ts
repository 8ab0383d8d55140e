import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { tryLock } from 'fs-native-extensions';

/**
 * Exclusive locks on files. The kernel drops a lock when the process ends, however it ends, and it holds across containers
 * that share a folder. A lock belongs to one open file: two in the same process exclude each other as well.
 */
export interface FileLock {
  release(): void;
}

/** A file may be removed while its lock is being taken: then the next file of that name is tried. */
const TRIES = 100;

/**
 * Takes the lock of a file, which is created if missing; null when somebody else holds it. The file names the holder. It must
 * stay after the release: a process that still has a deleted file open would lock that one. Throws a sentence when the file
 * cannot be locked at all.
 */
export function takeLock(path: string): FileLock | null {
  for (let tries = 0; tries < TRIES; tries++) {
    const fd = locked(path);
    if (fd === null) return null;
    if (fstatSync(fd).nlink > 0) {
      nameHolder(fd);
      return { release: () => closeSync(fd) };
    }
    closeSync(fd);
  }
  throw new Error(`cannot lock ${path}: other processes keep removing it`);
}

/** Who took the lock last, as ` (process 12 on ci-host)`; empty when its file does not tell. */
export function holderOf(path: string): string {
  try {
    const [, pid, host] = /^(\d+) (\S+)\n$/.exec(readFileSync(path, 'utf8')) ?? [];
    return pid === undefined ? '' : ` (process ${pid} on ${host})`;
  } catch {
    return '';
  }
}

function locked(path: string): number | null {
  let fd: number | null = null;
  try {
    // No link is followed: in a folder for everybody it would be somebody else's, to a file that must not be written.
    fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    if (tryLock(fd)) return fd;
    closeSync(fd);
    return null;
  } catch (error) {
    if (fd !== null) closeSync(fd);
    throw new Error(`cannot lock ${path}: ${(error as Error).message}; this user must be able to write it, on a file system that has locks`, { cause: error });
  }
}

function nameHolder(fd: number): void {
  try {
    ftruncateSync(fd);
    writeSync(fd, `${process.pid} ${hostname()}\n`, 0);
  } catch {
    // A full disk: the lock holds all the same.
  }
}
