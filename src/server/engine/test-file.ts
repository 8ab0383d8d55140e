import type { FileOutcome } from '../../protocol/file-outcome.js';

/** A test file (or a test case inside one) with its time in seconds. 0: scheduled, not measured. */
export interface RecordedTestFile {
  path: string;
  time_execution: number;
  /** With a time of 0: the file ran, and had no time to measure. */
  ran?: boolean;
  /** With a time of 0: no test of the file ran. It has none, or all of them are skipped or not selected. */
  no_test?: boolean;
  /** Missing: the client does not tell. */
  outcome?: FileOutcome;
}

/** Outcomes by their codes, from 1: the order is that of stored runs. */
const OUTCOMES: readonly FileOutcome[] = ['passed', 'failed', 'flaky', 'skipped', 'muted'];

/** The outcome with a code; null: its client did not tell. */
export function outcomeOf(code: number): FileOutcome | null {
  return OUTCOMES[code - 1] ?? null;
}

/** Reports whether a file failed. A mute changes what a failure does to its node, not what it tells of the file. */
export function isFailure(outcome: string | null): outcome is 'failed' | 'muted' {
  return outcome === 'failed' || outcome === 'muted';
}

/** The code of an outcome; 0: its client did not tell. */
export function codeOf(outcome: FileOutcome | undefined): number {
  return outcome === undefined ? 0 : 1 + OUTCOMES.indexOf(outcome);
}

/** The seconds of a file that ran and had no time to measure: negative zero, which is 0 in every sum and comparison. */
export const UNTIMED = -0;

/** Reports whether the recorded seconds of a file mean that it ran. */
export function hasRun(seconds: number): boolean {
  return seconds > 0 || Object.is(seconds, UNTIMED);
}

/** A test file that is handed to a node. A null time is unknown. */
export interface PlannedTestFile {
  path: string;
  time_execution: number | null;
}
