/** Counts in sentences. */

/** Returns the word that agrees with a count: file or files, is or are, it or them. */
export function agree(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

/**
 * Returns the count and the noun: 1 test file, 2 test files; with its verb: 1 file was, 2 files were.
 * @param nouns the plural, of a noun that does not end with s
 */
export function pluralize(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${agree(count, noun, nouns)}`;
}

/** Returns the whole of a count: all 2 test files, the only test file. */
export function allOf(count: number, noun: string): string {
  return count === 1 ? `the only ${noun}` : `all ${pluralize(count, noun)}`;
}
