/** A test file (or a test case inside one) with its time in seconds. 0: scheduled, not measured. */
export interface RecordedTestFile {
  path: string;
  time_execution: number;
}

/** A test file that is handed to a node. A null time is unknown. */
export interface PlannedTestFile {
  path: string;
  time_execution: number | null;
}
