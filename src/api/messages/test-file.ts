import type { tags } from 'typia';
import type { limits } from '../../limits.js';
import type { Path } from './text.js';

/** A test file, or a test case in one, in a list of files to split. */
export interface ListedTestFile {
  path: Path;
}

/** A test file with its time in seconds. 0: scheduled, not measured. */
export interface RecordedTestFile {
  path: Path;
  time_execution: number & tags.Minimum<0>;
  /** With a time of 0: the file ran, and had no time to measure. It has no test case, or all of them are skipped. */
  ran?: boolean;
}

/** A test file to run. A null time is unknown. */
export interface PlannedTestFile {
  path: string;
  time_execution: number | null;
}

export type TestFileList<File> = File[] & tags.MaxItems<typeof limits.testFilesPerRequest>;
