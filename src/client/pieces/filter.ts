import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PieceSupport } from './piece.js';

/** Runs the command once, with more arguments, and its output into a file descriptor. */
export type RunToPrint = (args: readonly string[], output: number) => Promise<void>;

/**
 * Asks a command for a filter of test cases that a piece would replace. Returns why its pieces run as whole files, with what to do; null: they
 * need not.
 */
export async function askFilter({ name, runner: { filter } }: PieceSupport, run: RunToPrint): Promise<string | null> {
  if (!filter) return null;
  const folder = mkdtempSync(join(tmpdir(), 'ballast-'));
  try {
    const path = join(folder, 'output.txt');
    const args = filter.args(folder);
    const output = openSync(path, 'w');
    await run(args, output).finally(() => closeSync(output));
    const found = filter.filterIn(readFileSync(path, 'utf8'));
    if (found === null) return null;
    return found === undefined
      ? `the configuration of ${name} is not known, and may select test cases, too: make sure that the command passes ${args.map(arg => arg.split('=')[0]).join(' and ')} on to ${name}, or leave out --pieces`
      : `the configuration of ${name} selects test cases by the testNamePattern ${found}, which a piece would replace: leave out one of the two`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
