import type { Fault } from '../../base/usage-error.js';
import { type Runner, readCommand } from '../client/command/read-command.js';
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
const RUNNERS: Partial<Record<Runner, PieceRunner & Partial<Pick<NamingRunner, 'conflicts' | 'added'>>>> = {
  pytest,
  rspec,
  vitest,
  jest,
  playwright,
  phpunit,
  'go test': goTest,
};

/**
 * Finds how the command runs pieces of test files, or why it cannot.
 * @param reports the globs of --junit
 * @param environment of the command
 */
export function pieceSupport(command: readonly string[], reports: readonly string[], environment: NodeJS.ProcessEnv): PieceSupport | Fault {
  const { runner: name, flags, words } = readCommand(command);
  const runner = name === null ? undefined : RUNNERS[name];
  if (name === null || !runner) {
    const known = Object.keys(RUNNERS).join(', ');
    return name === null
      ? {
          what: `--pieces works with ${known}, and the command ${command.join(' ')} names none of them`,
          remedy: 'name the test runner in the command, or leave out --pieces',
        }
      : { what: `--pieces works with ${known}, and not with ${name}`, remedy: 'leave out --pieces' };
  }
  if (reports.length === 0)
    return { what: '--pieces needs reports with test cases', remedy: 'name those that the command writes with --junit' };
  const conflictIn = (given: readonly string[]) =>
    given.find((flag, i) => runner.conflicts?.test(flag) || runner.conflicts?.test(`${flag} ${given[i + 1] ?? ''}`));
  const places = [
    ['the command', flags],
    [runner.added?.variable, runner.added?.flags(words, environment) ?? []],
  ] as const;
  for (const [place, given] of places) {
    const conflict = conflictIn(given);
    if (conflict !== undefined)
      return { what: `--pieces and ${conflict} in ${place} both select test cases`, remedy: 'leave out one of them' };
  }
  return { name, runner };
}
