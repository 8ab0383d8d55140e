import { version } from '../../base/version.js';

/** The guide that says what to do when the formats of a store and of a program differ. */
export const UPGRADING = 'the guide "Upgrading"';

/**
 * The sentence that refuses a store of a newer program, which this one could misread.
 *
 * @param name of the number: version or schema
 * @param program the version of the program that served the store last; null: it is not known
 */
export function newerFormat(name: string, stored: number, known: number, program: string | null): string {
  const writer = program === null ? 'a newer Ballast' : `Ballast ${program}`;
  return (
    `${writer} wrote it with ${name} ${stored}, and this Ballast ${version} reads ${name} ${known}: ` +
    `serve it with ${program === null ? writer : `${writer} or later`}, or restore the backup from before the upgrade; see ${UPGRADING}`
  );
}
