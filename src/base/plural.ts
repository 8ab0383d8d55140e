/** Counts in sentences. */

/**
 * Returns the count and the noun: 1 test file, 2 test files.
 * @param nouns the plural, of a noun that does not end with s
 */
export function pluralize(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** Returns the whole of a count: all 2 test files, the only test file. */
export function allOf(count: number, noun: string): string {
  return count === 1 ? `the only ${noun}` : `all ${pluralize(count, noun)}`;
}

/** Returns the verb behind a count: 1 test file was, 1 of 2 test files was, 2 test files were. */
export function wasOrWere(count: number): string {
  return count === 1 ? 'was' : 'were';
}
