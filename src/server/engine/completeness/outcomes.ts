import type { FileOutcome } from '../../../protocol/file-outcome.js';
import type { Run } from '../ports/builds.js';
import { hasRun, outcomeOf } from '../test-file.js';
import { type AssignmentsByPath, failuresBeforeRetry } from './compare.js';

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

const NONE: number[] = [];

type Ended = FileOutcome | 'untold';
/** What was told of a file, and what was recorded last. */
type Told = { [outcome in Ended]?: true } & { last?: Ended };

/**
 * Puts together what all nodes told of each file. One that failed anywhere has passed only if it passed in its retry, or when it was recorded last,
 * and one whose outcome a single run leaves open is untold.
 *
 * @param handed the files that were assigned
 * @param runs those that may belong to the CI run: their failures count
 * @param ciRun the digest of the CI run. Only the runs that name it show that a file passed
 */
export function outcomesOf(handed: AssignmentsByPath, runs: readonly Run[], ciRun: number): Outcomes {
  const told = new Map<string, Told>();
  const toldOf = (path: string) => {
    let known = told.get(path);
    if (!known) told.set(path, (known = {}));
    return known;
  };
  const retried = new Map<string, number[]>();
  const retriedFailures = (path: string) => {
    const known = retried.get(path) ?? failuresBeforeRetry(handed.get(path) ?? []);
    retried.set(path, known);
    return known;
  };
  for (const { node_index, paths, seconds, outcomes, ci_run } of runs.toSorted((a, b) => a.ordinal - b.ordinal)) {
    for (const [i, path] of paths.entries()) {
      const outcome = outcomeOf(outcomes[i]!) ?? 'untold';
      const failures = outcome === 'failed' ? retriedFailures(path) : NONE;
      // Its node may record the failure after the retry on another one. Another failure of this node was not retried.
      if (failures.includes(node_index)) {
        failures.splice(failures.indexOf(node_index), 1);
        toldOf(path).flaky = true;
        continue;
      }
      // A file that was only scheduled did not pass.
      if (outcome !== 'failed' && outcome !== 'untold' && !hasRun(seconds[i]!)) continue;
      if (ci_run !== ciRun && outcome !== 'failed') continue;
      const known = toldOf(path);
      known[outcome] = true;
      known.last = outcome;
    }
  }
  for (const [path, assignments] of handed)
    if (assignments.some(({ hasFailed }) => hasFailed))
      toldOf(path)[failuresBeforeRetry(assignments).length > 0 ? 'flaky' : 'failed'] = true;
  const result: Outcomes = { failed: [], untold: [], flaky: [], passed: [], skipped: [] };
  for (const [path, outcomes] of told) if (handed.has(path) || outcomes.failed) result[together(outcomes)].push(path);
  for (const path of handed.keys()) if (!told.has(path)) result.untold.push(path);
  return result;
}

function together({ untold, failed, flaky, passed, last }: Told): keyof Outcomes {
  if (failed && last !== 'passed' && last !== 'flaky') return 'failed';
  if (untold) return 'untold';
  return failed || flaky ? 'flaky' : passed ? 'passed' : 'skipped';
}
