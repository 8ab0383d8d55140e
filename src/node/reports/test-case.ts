import type { CaseOutcome } from '../../protocol/case-outcomes.js';

/** A test case of a report, as JUnit describes it. */
export interface TestCase {
  /** The path in the report, absolute or relative to an unknown folder; null: the report has none. */
  file: string | null;
  /** The innermost suite around the case; one object for all cases of the suite. */
  suite: TestSuite;
  classname: string;
  name: string;
  seconds: number;
  /** Set if its report has a time that cannot be read. */
  isUnmeasured?: true;
  isFailed: boolean;
  isSkipped: boolean;
  /** True if the case failed, and was marked as one that fails. */
  isExpectedFailure: boolean;
  /** Set if it passed when the runner tried it again. */
  isFlaky?: true;
}

/** The attributes of a `<testsuite>`; empty and 0 for a case outside any suite. */
export interface TestSuite {
  name: string;
  /** The time of the suite, including work outside its cases, such as loading the file. 0: not given, or the suite contains suites. */
  seconds: number;
}

/** A case of which nothing is known. */
export const emptyCase: TestCase = {
  file: null,
  suite: { name: '', seconds: 0 },
  classname: '',
  name: '',
  seconds: 0,
  isFailed: false,
  isSkipped: false,
  isExpectedFailure: false,
};

export function outcomeOf({ isFailed, isSkipped, isExpectedFailure }: TestCase): CaseOutcome {
  if (isFailed) return 'failed';
  if (isSkipped) return 'skipped';
  return isExpectedFailure ? 'expected_failure' : 'passed';
}

/** Adds a case without a name, with the result of a file or a package, if no case of it explains that result. */
export function withResult(cases: readonly TestCase[], result: TestCase): readonly TestCase[] {
  const isExplained = cases.length > 0 && (!result.isFailed || cases.some(({ isFailed }) => isFailed));
  return isExplained ? cases : [...cases, result];
}
