import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mentions, type NamingRunner, reportCases } from './named-cases.js';

const SERIAL = /serial/i;

/**
 * Playwright from 1.58 on. A case is a test in all projects, with the titles of the suites around it. Tests of a serial suite need each other:
 * a file with one stays whole.
 */
export const playwright: NamingRunner = {
  // A piece would replace a list of the user. The list of a batch is none: {file}, or the argument of a script.
  conflicts: /^--test-list-invert(=|$)|^--test-list[= ](?!\{file\}|\$)/,
  select(piece, folder) {
    const names = piece?.others ?? piece?.cases;
    if (!piece || !names || piece.others?.length === 0) return { args: [], environment: {} };
    if (mentions(piece.file, SERIAL)) return null;
    const list = join(folder, 'cases.txt');
    writeFileSync(list, listOf(piece.file, names));
    // The list takes the place of one that the command has, which is of whole files.
    return { args: [piece.others ? '--test-list-invert' : '--test-list', list], environment: {} };
  },
  reportsOf: (files, reported) =>
    reportCases(
      files.filter(file => !mentions(file, SERIAL)),
      reported,
      // A piece must not name a case that it cannot select.
      { nameOf: ({ name }) => (name && isListable(name) ? name : null), keyOf: name => name, listsAll: false },
    ),
};

/** Returns a list of tests. A name that no line can have selects nothing, so that its test runs with the rest. */
function listOf(file: string, names: readonly string[]): string {
  const paths = pathsOf(file).filter(path => !/^[[#]|›|[\r\n]/.test(path));
  return names
    .filter(isListable)
    .flatMap(name => paths.map(path => `${path} › ${name}\n`))
    .join('');
}

/** A list drops the white space around titles, and would select a test without it. */
function isListable(name: string): boolean {
  return !/[\r\n]/.test(name) && name.split(' › ').every(title => title === title.trim());
}

/**
 * Paths in a list are relative to a folder around the file that only the configuration knows. Returns the path from each that is not also
 * that of another file, from another such folder.
 */
function pathsOf(file: string): string[] {
  const segments = resolve(file).split('/').slice(1);
  const folders = segments.map((_, i) => `/${segments.slice(0, i).join('/')}`);
  const paths = segments.map((_, i) => segments.slice(i).join('/'));
  return paths.filter((path, i) => !folders.some((folder, j) => j !== i && existsSync(join(folder, path))));
}
