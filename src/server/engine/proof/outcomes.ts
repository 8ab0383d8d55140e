import type { FileOutcome } from '../../../protocol/file-outcome.js';
import type { AssignmentsByPath } from '../completeness/compare.js';
import type { Run } from '../ports/builds.js';
import { outcomeOf } from '../test-file.js';

/** The test files and pieces of a CI run by their outcomes. */
export interface Outcomes {
  failed: string[];
  /** Of which some client does not tell the outcome, or none recorded it under its name. */
  untold: string[];
  /** Those that failed, and passed when a node or a test runner tried them again. */
  flaky: string[];
  passed: string[];
  skipped: string[];
}

type Told = { [outcome in FileOutcome | 'untold']?: true };

/**
 * Puts together what all nodes told of each file. One that failed anywhere has passed only if it passed elsewhere, and one whose outcome a single
 * run leaves open is untold.
 *
 * @param handed the files that were assigned
 * @param named the runs that name the CI run. Only these show that a file passed
 * @param unnamed runs that may belong to it: their failures count
 */
export function outcomesOf(handed: AssignmentsByPath, named: readonly Run[], unnamed: readonly Run[]): Outcomes {
  const told = new Map<string, Told>();
  const note = (path: string, outcome: FileOutcome | 'untold') => {
    const known = told.get(path);
    if (known) known[outcome] = true;
    else told.set(path, { [outcome]: true });
  };
  for (const { paths, outcomes } of named) for (const [i, path] of paths.entries()) note(path, outcomeOf(outcomes[i]!) ?? 'untold');
  for (const { paths, outcomes } of unnamed)
    for (const [i, path] of paths.entries()) if (outcomeOf(outcomes[i]!) === 'failed') note(path, 'failed');
  for (const [path, assignments] of handed) if (assignments.some(({ hasFailed }) => hasFailed)) note(path, 'failed');
  const result: Outcomes = { failed: [], untold: [], flaky: [], passed: [], skipped: [] };
  for (const [path, outcomes] of told) if (handed.has(path) || outcomes.failed) result[together(outcomes)].push(path);
  for (const path of handed.keys()) if (!told.has(path)) result.untold.push(path);
  return result;
}

function together({ untold, failed, flaky, passed }: Told): keyof Outcomes {
  if (failed) return passed || flaky ? (untold ? 'untold' : 'flaky') : 'failed';
  if (untold) return 'untold';
  return flaky ? 'flaky' : passed ? 'passed' : 'skipped';
}
