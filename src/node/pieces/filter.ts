import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder, removeTemporaryFolder } from '../client/temporary-folder.js';
import type { PieceSupport } from './piece.js';

/** Runs the command once, with more arguments, and its output into a file descriptor. */
export type RunToPrint = (args: readonly string[], output: number) => Promise<void>;

/**
 * Asks the command of a test file whether it has a filter of test cases, which a piece would replace. Returns why the whole file runs in place
 * of its pieces, with what to do; null: the pieces can run.
 */
export async function askFilter({ name, runner: { filter } }: PieceSupport, run: RunToPrint): Promise<string | null> {
  if (!filter) return null;
  const folder = makeTemporaryFolder();
  try {
    const path = join(folder, 'output.txt');
    const args = filter.args(folder);
    const output = openSync(path, 'w');
    await run(args, output).finally(() => closeSync(output));
    const found = filter.filterIn(readFileSync(path, 'utf8'));
    if (found === null) return null;
    return found === undefined
      ? `${name} did not print its configuration, which may also select test cases: make sure that the command passes ${args.map(arg => arg.split('=')[0]).join(' and ')} on to ${name}, or leave out --pieces`
      : `the configuration of ${name} selects test cases by the testNamePattern ${found}, which a piece would replace: remove the testNamePattern, or leave out --pieces`;
  } finally {
    removeTemporaryFolder(folder);
  }
}
