import { createRequire } from 'node:module';

/** Locks a whole open file exclusively. Returns false if another open file has the lock, and throws on other errors. */
export type TryLock = (fd: number) => boolean;

/** The function of the binary throws EAGAIN if another open file has the lock. */
interface Binary {
  tryLock(fd: number, offset: number, length: number, isExclusive: boolean): void;
}

/**
 * Loads the lock of fs-native-extensions. On Alpine the package looks for a binary for musl, but has none. Its binary for glibc works there:
 * it calls only functions that musl has, and the loader of musl accepts the name of the glibc library.
 */
export function loadTryLock(require: (path: string) => unknown, platform: string = process.platform, arch: string = process.arch): TryLock {
  try {
    return (require('fs-native-extensions') as { tryLock: TryLock }).tryLock;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ADDON_NOT_FOUND' || platform !== 'linux') throw error;
    return wrapBinary(require(`fs-native-extensions/prebuilds/linux-${arch}/fs-native-extensions.node`) as Binary);
  }
}

function wrapBinary(binary: Binary): TryLock {
  return fd => {
    try {
      binary.tryLock(fd, 0, 0, true);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
      throw error;
    }
  };
}

export const tryLock = loadTryLock(createRequire(import.meta.url));
