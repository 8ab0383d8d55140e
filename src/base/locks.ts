import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';

/** Locks of whole open files. */
export interface Locks {
  /**
   * Locks a file, exclusively or shared with others that share it. Returns false if another open file has a lock in the way, and throws on
   * other errors.
   */
  tryLock(fd: number, isShared?: boolean): boolean;
  unlock(fd: number): void;
}

/** The functions of the binary; `tryLock` throws EAGAIN if another open file has the lock. */
interface Binary {
  tryLock(fd: number, offset: number, length: number, isExclusive: boolean): void;
  unlock(fd: number, offset: number, length: number): void;
}

interface Package {
  tryLock(fd: number, offset: number, length: number, options: { shared: boolean }): boolean;
  unlock(fd: number): void;
}

/**
 * Loads the locks of fs-native-extensions. On Alpine the package looks for a binary for musl, but has none. Its binary for glibc works there:
 * it calls only functions that musl has, and the loader of musl accepts the name of the glibc library.
 */
export function loadLocks(require: (path: string) => unknown, platform: string = process.platform, arch: string = process.arch): Locks {
  try {
    const { tryLock, unlock } = require('fs-native-extensions') as Package;
    return { tryLock: (fd, shared = false) => tryLock(fd, 0, 0, { shared }), unlock: fd => unlock(fd) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ADDON_NOT_FOUND' || platform !== 'linux') throw error;
    return wrapBinary(require(`fs-native-extensions/prebuilds/linux-${arch}/fs-native-extensions.node`) as Binary);
  }
}

function wrapBinary(binary: Binary): Locks {
  return {
    tryLock(fd, isShared = false) {
      try {
        binary.tryLock(fd, 0, 0, !isShared);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
        throw error;
      }
    },
    unlock: fd => binary.unlock(fd, 0, 0),
  };
}

export const locks = loadLocks(createRequire(import.meta.url));

/**
 * An exclusive lock on a file. The kernel releases it when the process ends, in any way. It works across containers that share a folder. It
 * belongs to one open file: two locks in the same process also exclude each other.
 */
export interface FileLock {
  release(): void;
}

/** Another process may remove the file while it is being locked. The lock is then tried on a new file. */
const MAX_ATTEMPTS = 100;

/**
 * Locks a file. Creates the file if it is missing, and writes the holder into it. Returns null if another holder has the lock. Throws if the
 * file cannot be locked at all. Do not delete the file after the release: a process that still has it open would lock the deleted file.
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

/** Returns the last holder of the lock as ` (process 12 on ci-host)`; empty: the file does not name it. */
export function lockHolder(path: string): string {
  try {
    const [, pid, host] = /^(\d+) (\S+)\n$/.exec(readFileSync(path, 'utf8')) ?? [];
    return pid === undefined ? '' : ` (process ${pid} on ${host})`;
  } catch {
    return '';
  }
}

/** Opens a file to lock, which is created if missing. */
export function openLockFile(path: string): number {
  // Links are not followed: in a folder that all users can write to, a link could lead to any file.
  return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
}

function openLocked(path: string): number | null {
  let fd: number | null = null;
  try {
    fd = openLockFile(path);
    if (locks.tryLock(fd)) return fd;
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
    // The disk may be full. The lock is held anyway.
  }
}
