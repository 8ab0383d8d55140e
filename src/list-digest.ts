import { createHash } from 'node:crypto';

/**
 * Returns the digest of a list of test files, which does not depend on their order: the SHA-256, in hex, of the distinct paths,
 * sorted by UTF-16 code units, with a NUL after each.
 */
export function digestOfList(paths: Iterable<string>): string {
  const sorted = [...new Set(paths)].sort();
  return createHash('sha256')
    .update(sorted.map(path => `${path}\0`).join(''))
    .digest('hex');
}
