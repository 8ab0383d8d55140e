import type { PlannedTestFile } from '../../engine/test-file.js';
import { type PathTimes, pathOf } from '../../planning/estimating/estimate.js';

/** The JSON of a PlannedTestFile. */
export function plannedFile(files: PathTimes, file: number): string {
  const time = files.seconds[file]!;
  const planned: PlannedTestFile = { path: pathOf(files, file), time_execution: Number.isNaN(time) ? null : time };
  return JSON.stringify(planned);
}
