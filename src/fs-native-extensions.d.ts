/** Types of the part of the package that is used here: it has none of its own. */
declare module 'fs-native-extensions' {
  /** Locks a whole file exclusively. Returns false when another open file has the lock, and throws on other failures. */
  export function tryLock(fd: number): boolean;
}
