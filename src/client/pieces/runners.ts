import { UsageError } from '../../usage-error.js';
import type { PieceSupport } from '../node-run.js';
import { type Runner, readCommand } from '../read-command.js';
import type { PieceRunner } from './piece.js';
import { pytestPieces } from './pytest.js';
import { rspecPieces } from './rspec.js';

/** The test runners that run pieces of files, by their names in commands. */
const RUNNERS: Partial<Record<Runner, PieceRunner>> = { pytest: pytestPieces, rspec: rspecPieces };

/** Finds how the command runs pieces of test files. Throws a UsageError when it cannot. */
export function pieceSupport(command: readonly string[], reports: readonly string[], environment: NodeJS.ProcessEnv): PieceSupport {
  const { runner: name } = readCommand({ command, files: null, reports, environment });
  const known = Object.keys(RUNNERS).join(', ');
  const runner = name === null ? undefined : RUNNERS[name];
  if (name === null || !runner)
    throw new UsageError([
      `--pieces needs a command with a test runner that can run single test cases, and ${name === null ? `${command.join(' ')} names none that is known` : `${name} cannot`} (${known}): call the runner in the command, or leave out --pieces`,
    ]);
  if (reports.length === 0) throw new UsageError(['--pieces needs the reports that the command writes: name them with --junit']);
  return { name, runner };
}
