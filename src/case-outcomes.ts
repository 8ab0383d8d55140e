/** What became of a test case. Expected failure: it failed, and had told its test runner that it would, as with xfail of pytest. */
export type CaseOutcome = 'passed' | 'failed' | 'expected_failure' | 'skipped';

/** How many test cases with one name ended in each way; missing: none. */
export type CaseOutcomes = { [outcome in CaseOutcome]?: number };

/** How many of these cases ran. */
export function ranAmong({ passed = 0, failed = 0, expected_failure = 0 }: CaseOutcomes): number {
  return passed + failed + expected_failure;
}
