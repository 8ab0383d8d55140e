/** Outcome of a test case. Expected failure: it failed, and was marked as one that fails, as with xfail of pytest. */
export type CaseOutcome = 'passed' | 'failed' | 'expected_failure' | 'skipped';

/** Number of test cases with one name that ended in each way; missing: none. */
export type CaseOutcomes = { [outcome in CaseOutcome]?: number };

/** Outcomes of the test cases with one name in a file. */
export interface CasesOfName {
  name: string;
  /** Of each case once, however often it was tried. */
  outcomes: CaseOutcomes;
}

/** The same, with what the cases took. */
export interface NamedCases extends CasesOfName {
  /** Of all cases with this name. */
  seconds: number;
}

/** Counts the cases, of these, that ran. */
export function ranAmong({ passed = 0, failed = 0, expected_failure = 0 }: CaseOutcomes): number {
  return passed + failed + expected_failure;
}

/** Collects the outcomes of the cases with each name. @param cases each stands for one case, or for `count` */
export function byName(cases: readonly { name: string; seconds: number; outcome: CaseOutcome; count?: number }[]): NamedCases[] {
  return mergeByName(cases.map(({ name, seconds, outcome, count = 1 }) => ({ name, seconds, outcomes: { [outcome]: count } })));
}

/** Merges the cases with the same name, in the order of the first of each. */
export function mergeByName(cases: Iterable<NamedCases>): NamedCases[] {
  const merged = new Map<string, NamedCases>();
  for (const { name, seconds, outcomes } of cases) {
    const sum = merged.get(name) ?? { name, seconds: 0, outcomes: {} };
    merged.set(name, sum);
    sum.seconds += seconds;
    for (const [outcome, count] of Object.entries(outcomes) as [CaseOutcome, number][])
      sum.outcomes[outcome] = (sum.outcomes[outcome] ?? 0) + count;
  }
  return [...merged.values()];
}
