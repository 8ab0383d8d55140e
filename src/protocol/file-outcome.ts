/**
 * Outcome of a test file. `flaky`: the test runner tried some of it again, and then it passed. `skipped`: all of its tests are skipped or not
 * selected, or it has none. `muted`: it failed, and the repository mutes each of its failures.
 */
export type FileOutcome = 'passed' | 'failed' | 'flaky' | 'skipped' | 'muted';
