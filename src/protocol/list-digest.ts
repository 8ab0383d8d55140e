import { hash } from 'node:crypto';

/**
 * Returns the digest of a list of test files, which does not depend on their order: the SHA-256, in hex, of the distinct paths,
 * sorted by UTF-16 code units, with a NUL after each.
 */
export function digestOfList(paths: readonly string[]): string {
  return digestOfSorted(sortedDistinct(paths));
}

/** Returns the distinct paths, sorted by UTF-16 code units. */
export function sortedDistinct(paths: readonly string[]): readonly string[] {
  // Most lists are sorted, and have no path twice.
  const isDistinct = (path: string, i: number, all: readonly string[]) => i === 0 || all[i - 1]! < path;
  if (paths.every(isDistinct)) return paths;
  return paths.toSorted().filter(isDistinct);
}

/** Returns the digest of distinct paths that are sorted by UTF-16 code units. */
export function digestOfSorted(paths: readonly string[]): string {
  return hash('sha256', paths.length > 0 ? `${paths.join('\0')}\0` : '', 'hex');
}
