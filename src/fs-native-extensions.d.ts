/** The part that is used of a package without types. */
declare module 'fs-native-extensions' {
  /** Locks a whole file exclusively: true, or false when another open file has the lock. Throws other failures. */
  export function tryLock(fd: number): boolean;
}
