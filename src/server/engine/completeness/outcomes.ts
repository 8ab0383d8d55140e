import type { FileOutcome } from '../../../protocol/file-outcome.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import type { Run } from '../ports/builds.js';
import { codeOf, hasRun, isFailure, outcomeOf } from '../test-file.js';
import type { AssignmentsByPath } from './compare.js';

/** The test files and pieces of a CI run by their outcomes. */
export interface Outcomes {
  failed: string[];
  /** Those whose last failure the repository mutes. They failed, too. */
  muted: string[];
  /** Of which some client does not tell the outcome, or none recorded it under its name. */
  untold: string[];
  /** Those that failed, and passed when a node or a test runner tried them again. */
  flaky: string[];
  passed: string[];
  skipped: string[];
}

type Ended = FileOutcome | 'untold';
/** What was told of a file, what was recorded last, and the last failure, with its node: a mute on one node excuses no failure on another one. */
type Told = { [outcome in Exclude<Ended, 'failed' | 'muted'>]?: true } & { last?: Ended; failure?: 'failed' | 'muted'; failedOn?: number };

/**
 * Puts together what all nodes told of each file. One that failed anywhere has passed only if it passed in its retry, or when it was recorded last,
 * and one whose outcome a single run leaves open is untold.
 *
 * @param handed the files that were assigned
 * @param runs those that may belong to the CI run: their failures count
 * @param ciRun the digest of the CI run. Only the runs that name it show that a file passed; null: all do
 */
export function outcomesOf(handed: AssignmentsByPath, runs: readonly Run[], ciRun: number | null): Outcomes {
  const told = new Map<string, Told>();
  const toldOf = (path: string) => {
    let known = told.get(path);
    if (!known) told.set(path, (known = {}));
    return known;
  };
  const retried = retriedFailures(handed);
  for (const { node_index, paths, seconds, outcomes, ci_run } of runs.toSorted((a, b) => a.ordinal - b.ordinal)) {
    for (const [i, path] of paths.entries()) {
      const outcome = outcomeOf(outcomes[i]!) ?? 'untold';
      const failures = isFailure(outcome) ? retried.get(path) : undefined;
      // Its node may record the failure after the retry on another one. Another failure of this node was not retried.
      if (failures?.includes(node_index)) {
        failures.splice(failures.indexOf(node_index), 1);
        toldOf(path).flaky = true;
        continue;
      }
      // A file that was only scheduled did not pass.
      if (!isFailure(outcome) && outcome !== 'untold' && !hasRun(seconds[i]!)) continue;
      if (ciRun !== null && ci_run !== ciRun && !isFailure(outcome)) continue;
      const known = toldOf(path);
      if (!isFailure(outcome)) known[outcome] = true;
      else if (outcome === 'failed' || known.failure !== 'failed' || known.failedOn === node_index)
        Object.assign(known, { failure: outcome, failedOn: node_index });
      known.last = outcome;
    }
  }
  for (const [path, assignments] of handed) {
    if (retried.has(path)) toldOf(path).flaky = true;
    else if (assignments.some(({ hasFailed }) => hasFailed)) toldOf(path).failure ??= 'failed';
  }
  const result: Outcomes = { failed: [], muted: [], untold: [], flaky: [], passed: [], skipped: [] };
  for (const [path, outcomes] of told) if (handed.has(path) || outcomes.failure) result[together(outcomes)].push(path);
  for (const path of handed.keys()) if (!told.has(path)) result.untold.push(path);
  return result;
}

/** The files that failed, then passed in each retry, and have not failed since, with the node of each failure. */
export function retriedFailures(handed: AssignmentsByPath): Map<string, number[]> {
  const nodes = new Map<string, number[]>();
  for (const [path, assignments] of handed) {
    const retry = assignments.findLastIndex(({ isRetry, ran }) => isRetry && ran);
    if (retry < 0 || assignments.some(({ isRetry, hasFailed }, i) => hasFailed && (isRetry || i > retry))) continue;
    const failedOn = assignments.slice(0, retry).flatMap(({ node_index, hasFailed }) => (hasFailed ? node_index : []));
    if (failedOn.length > 0) nodes.set(path, failedOn);
  }
  return nodes;
}

/** The files whose last failure the repository mutes, each with a node that told it. Of a piece, its file. @param ciRun as in outcomesOf */
export function mutedFailures(
  handed: AssignmentsByPath,
  runs: readonly Run[],
  ciRun: number | null,
): { path: string; node_index: number }[] {
  const code = codeOf('muted');
  const nodes = new Map<string, number>();
  for (const { paths, outcomes, node_index } of runs)
    if (outcomes.includes(code)) for (const [i, path] of paths.entries()) if (outcomes[i] === code) nodes.set(path, node_index);
  if (nodes.size === 0) return [];
  const muted = new Map(
    outcomesOf(handed, runs, ciRun)
      .muted.sort()
      .map(path => [fileOfPiece(path), nodes.get(path)!]),
  );
  return Array.from(muted, ([path, node_index]) => ({ path, node_index }));
}

function together({ untold, failure, flaky, passed, last }: Told): keyof Outcomes {
  if (failure && last !== 'passed' && last !== 'flaky') return failure;
  if (untold) return 'untold';
  return failure || flaky ? 'flaky' : passed ? 'passed' : 'skipped';
}
