import { delimiter } from 'node:path';
import { readHookReports, writeHook } from './hook.js';
import type { PieceRunner } from './piece.js';

/**
 * Pieces of pytest. A case has the name that its node id has behind the file, such as `TestCart::test_add[2-euro]`. The plugin compares
 * whole names with those of collected items, after -k, -m and all other plugins have chosen theirs.
 *
 * All nodes have to collect the same names for the same tests. They do not if a name counts parameters of a set (`obj0`, `obj1`), or if
 * parameters depend on the machine. The same is true for pytest-xdist.
 *
 * The plugin is found by PYTHONPATH: pytest ends with an ImportError where the command itself replaces that variable. coverage.py measures
 * the plugin, too, where nothing limits it to the sources of the project. A later report lacks the file: it needs `source` or `omit`.
 */
export const pytest: PieceRunner = {
  select(piece, folder, environment) {
    const path = writeHook('ballast_piece.py', piece, folder);
    // In front of the old values: the plugin takes these words away again.
    const joined = (separator: string, added: string, old: string | undefined) => (old ? `${added}${separator}${old}` : added);
    return {
      args: [],
      environment: {
        PYTEST_ADDOPTS: joined(' ', '-p ballast_piece', environment.PYTEST_ADDOPTS),
        PYTHONPATH: joined(delimiter, path, environment.PYTHONPATH),
      },
    };
  },
  reportsOf: (files, _reported, folder) => readHookReports(files, folder),
};
