import { createRequire } from 'node:module';

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
