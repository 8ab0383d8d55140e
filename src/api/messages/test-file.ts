import type { tags } from 'typia';
import type { limits } from '../../limits.js';
import type { Path } from './text.js';

/** A test file (or a test case inside one) that is listed to be split. */
export interface ListedTestFile {
  path: Path;
}

/** A test file with its timing, in seconds. 0: scheduled, not measured. */
export interface RecordedTestFile {
  path: Path;
  time_execution: number & tags.Minimum<0>;
}

/** A test file in an answer. null: no timing is known. */
export interface PlannedTestFile {
  path: string;
  time_execution: number | null;
}

export type TestFileList<File> = File[] & tags.MaxItems<typeof limits.testFilesPerRequest>;

/** The paths of a list in their order, each once: a path listed twice is run once. */
export function distinctPaths(files: readonly ListedTestFile[]): string[] {
  const paths = files.map(file => file.path);
  const distinct = new Set(paths);
  return distinct.size === paths.length ? paths : [...distinct];
}
