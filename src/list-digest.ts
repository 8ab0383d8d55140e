import { hash } from 'node:crypto';

/**
 * Returns the digest of a list of test files, which does not depend on their order: the SHA-256, in hex, of the distinct paths,
 * sorted by UTF-16 code units, with a NUL after each.
 */
export function digestOfList(paths: Iterable<string>): string {
  return digestOfSorted([...new Set(paths)].sort());
}

/** Returns the digest of distinct paths that are sorted by UTF-16 code units. */
export function digestOfSorted(paths: readonly string[]): string {
  return hash('sha256', paths.length > 0 ? `${paths.join('\0')}\0` : '', 'hex');
}
