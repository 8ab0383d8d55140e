import { UsageError } from '../../usage-error.js';
import { type Runner, readCommand } from '../read-command.js';
import { goTest } from './go-test.js';
import { jest } from './jest.js';
import type { NamingRunner } from './named-cases.js';
import { phpunit } from './phpunit.js';
import type { PieceRunner, PieceSupport } from './piece.js';
import { playwright } from './playwright.js';
import { pytest } from './pytest.js';
import { rspec } from './rspec.js';
import { vitest } from './vitest.js';

/** The test runners that run pieces of files, by their names in commands. */
const RUNNERS: Partial<Record<Runner, PieceRunner & Partial<Pick<NamingRunner, 'conflicts'>>>> = {
  pytest,
  rspec,
  vitest,
  jest,
  playwright,
  phpunit,
  'go test': goTest,
};

/** Finds how the command runs pieces of test files. Throws a UsageError when it cannot. */
export function pieceSupport(command: readonly string[], reports: readonly string[]): PieceSupport {
  const { runner: name, flags } = readCommand(command);
  const runner = name === null ? undefined : RUNNERS[name];
  if (name === null || !runner) {
    const known = Object.keys(RUNNERS).join(', ');
    throw new UsageError([
      name === null
        ? `--pieces works with ${known}, and the command ${command.join(' ')} names none of them: name the test runner in the command, or leave out --pieces`
        : `--pieces works with ${known}, and not with ${name}: leave out --pieces`,
    ]);
  }
  if (reports.length === 0)
    throw new UsageError(['--pieces needs reports with test cases: name those that the command writes with --junit']);
  const conflict = flags.find(flag => runner.conflicts?.test(flag));
  if (conflict !== undefined)
    throw new UsageError([`--pieces and ${conflict} in the command both select test cases: leave out one of them`]);
  return { name, runner };
}
