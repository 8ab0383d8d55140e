import type { StaticFile } from './static-file.js';

/** The file of each of Ballast's own clients, by the name that the client sends; a reporter sends nothing. CI nodes fetch them from the root of the server. */
export const clientFileNames: ReadonlyMap<string, string> = new Map([
  ['ballast', 'ballast.mjs'],
  ['ballast-jest', 'ballast-jest.mjs'],
  ['ballast-node-test', 'ballast-node-test.mjs'],
  ['ballast-playwright', 'ballast-playwright.mjs'],
  ['ballast-vitest', 'ballast-vitest.mjs'],
  ['ballast-pytest', 'ballast_pytest.py'],
]);

/** These files as they were built with this server. */
export interface ClientFiles {
  version: string;
  /** By name, such as ballast.mjs. Without those that were not built. */
  files: ReadonlyMap<string, ClientFile>;
}

export interface ClientFile extends StaticFile {
  /** SHA-256, in hexadecimal. */
  checksum: string;
}
