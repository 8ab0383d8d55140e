import type { PlannedTestFile } from '../../engine/test-file.js';
import type { PathTimes } from '../../planning/estimating/estimate.js';

/** The JSON of a PlannedTestFile. */
export function plannedFile({ paths, seconds }: PathTimes, file: number): string {
  const time = seconds[file]!;
  const planned: PlannedTestFile = { path: paths[file]!, time_execution: Number.isNaN(time) ? null : time };
  return JSON.stringify(planned);
}
