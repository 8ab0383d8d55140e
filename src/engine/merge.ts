import type { RecordedTestFile } from '../api/messages/test-file.js';
import { median } from '../planning/estimating/median.js';

/**
 * Merges the runs of a build into one list, slowest first. Each path has the median of its measured times, or 0 if it was
 * only scheduled. The runs of a node are retries of the same files, so their times are not summed.
 */
export function mergeSubsets(subsets: Iterable<readonly RecordedTestFile[]>): RecordedTestFile[] {
  const times = new Map<string, number[]>();
  for (const files of subsets) {
    for (const { path, time_execution } of files) {
      let measured = times.get(path);
      if (!measured) times.set(path, (measured = []));
      if (time_execution > 0) measured.push(time_execution);
    }
  }
  return [...times]
    .map(([path, measured]) => ({ path, time_execution: median(measured) }))
    .sort((a, b) => b.time_execution - a.time_execution || (a.path < b.path ? -1 : 1));
}
