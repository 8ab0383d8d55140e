import type { FileRun } from './runner.js';
import type { CiRun, Job } from './scenario.js';

/** Test cases of long files. Every other file has one case, and no name for it. */

export interface CaseRun {
  name: string;
  outcome: FileRun['outcome'];
}

/**
 * Runs cases in their order. The name of a case, such as test_3_needs_2, says what it does: it is always skipped, fails on the first start
 * of its node, or is skipped (needs) or fails (breaks) if the case of that number has not run before it.
 */
export function runCases(names: readonly string[], start: number): CaseRun[] {
  const ran = new Set<string>();
  return names.map(name => {
    const [, number, mark, other] = /^test_(\d+)(?:_([a-z]+))?(?:_(\d+))?$/.exec(name) as string[];
    const isAlone = other !== undefined && !ran.has(other);
    const isSkipped = mark === 'skipped' || (mark === 'needs' && isAlone);
    const isFailed = (mark === 'flaky' && start === 1) || (mark === 'breaks' && isAlone);
    if (!isSkipped) ran.add(number!);
    return { name, outcome: isSkipped ? 'skipped' : isFailed ? 'failed' : 'passed' };
  });
}

/** The path of a case in evidence. */
export const casePath = (file: string, name: string): string => `${file}::${name}`;

/** What must run of these files: of a long one each case that is not skipped when the whole file runs. */
export function unitsOf({ cases }: Pick<CiRun, 'cases'>, files: Job['files']): string[] {
  return files.flatMap(
    file => cases[file]?.flatMap((name, i, all) => (runCases(all, 2)[i]!.outcome === 'skipped' ? [] : casePath(file, name))) ?? file,
  );
}

/** Whether the runner ran it. A file without names of cases counts as run also if it was skipped. */
export const hasRun = ({ path, outcome }: FileRun): boolean => outcome !== 'skipped' || !path.includes('::');
