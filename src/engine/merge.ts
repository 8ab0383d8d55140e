import { median } from '../planning/estimating/median.js';
import type { Run } from './ports/builds.js';
import type { RecordedTestFile } from './test-file.js';

type Times = Pick<Run, 'paths' | 'seconds'>;

/**
 * Merges the runs of a build into one list, slowest first. Each path has the median of its measured times, or 0 if it was
 * only scheduled. The runs of a node are retries of the same files, so their times are not summed.
 */
export async function mergeRuns(runs: AsyncIterable<Times> | Iterable<Times>): Promise<RecordedTestFile[]> {
  const times = new Map<string, number[]>();
  for await (const { paths, seconds } of runs) {
    for (const [i, path] of paths.entries()) {
      let measured = times.get(path);
      if (!measured) {
        measured = [];
        times.set(path, measured);
      }
      if (seconds[i]! > 0) measured.push(seconds[i]!);
    }
  }
  return [...times]
    .map(([path, measured]) => ({ path, time_execution: median(measured) }))
    .sort((a, b) => b.time_execution - a.time_execution || (a.path < b.path ? -1 : 1));
}
