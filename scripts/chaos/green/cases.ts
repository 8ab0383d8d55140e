import { byName, type CaseOutcome, type NamedCases } from '../../../src/protocol/case-outcomes.js';
import type { FileRun } from './runner.js';
import type { CiRun, Job } from './scenario.js';

/** Test cases of long files. Every other file has one case, and no name for it. */

export interface CaseRun {
  name: string;
  /** Its place among the cases with its name, from 1. */
  place: number;
  outcome: CaseOutcome;
}

/** Outcome of a case whose name has this mark if the case that it needs has not run before it. */
const ALONE: Readonly<Record<string, CaseOutcome>> = { needs: 'skipped', twin: 'skipped', pends: 'expected_failure', breaks: 'failed' };

/**
 * Runs cases in their order. The name of a case, such as test_3_needs_2, says what it does: it is always skipped, fails on the first start
 * of its node, or does not pass if the case of that number has not run before it. The name of a twin is that of two cases, the first of which
 * always passes.
 */
export function runCases(names: readonly string[], start: number): CaseRun[] {
  const ran = new Set<string>();
  return names.flatMap((name): CaseRun[] => {
    const [, number, mark = '', other] = /^test_(\d+)(?:_([a-z]+))?(?:_(\d+))?$/.exec(name) as string[];
    const isAlone = other !== undefined && !ran.has(other);
    const outcome = mark === 'skipped' ? 'skipped' : mark === 'flaky' && start === 1 ? 'failed' : isAlone ? ALONE[mark]! : 'passed';
    if (outcome !== 'skipped') ran.add(number!);
    return mark === 'twin'
      ? [
          { name, place: 1, outcome: 'passed' },
          { name, place: 2, outcome },
        ]
      : [{ name, place: 1, outcome }];
  });
}

/** The path of a case in evidence. */
export const casePath = (file: string, { name, place }: Pick<CaseRun, 'name' | 'place'>): string =>
  `${file}::${name}${place === 1 ? '' : `::${place}`}`;

/** Collects the outcomes of the cases of each name, in their order. */
export function caseReport(runs: readonly CaseRun[], seconds: number): NamedCases[] {
  return byName(runs.map(({ name, outcome }) => ({ name, seconds, outcome })));
}

/** Lists the units of these files that must run: of a long file each case that passes or fails when the whole file runs. */
export function unitsOf({ cases }: Pick<CiRun, 'cases'>, files: Job['files']): string[] {
  return files.flatMap(file => {
    const names = cases[file];
    return names ? runCases(names, 2).flatMap(run => (decides(run.outcome) ? casePath(file, run) : [])) : file;
  });
}

const decides = (outcome: CaseOutcome): boolean => outcome === 'passed' || outcome === 'failed';

/** Reports whether the runner ran it, and a failure would have counted. A file without names of cases counts as run also if it was skipped. */
export const hasRun = ({ path, outcome }: FileRun): boolean => decides(outcome) || !path.includes('::');
