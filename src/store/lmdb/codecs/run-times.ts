import type { RunTimes } from '../../../engine/ports/builds.js';
import type { RunRecord } from '../records.js';

type Columns = Pick<RunRecord, 'paths' | 'seconds'>;

const { BYTES_PER_ELEMENT: PATH_BYTES } = Uint32Array;
const { BYTES_PER_ELEMENT: SECONDS_BYTES } = Float64Array;

/** Decodes the test files of a run from one index to another. Throws a sentence on bytes that are no run. */
export function timesOf({ paths, seconds }: Columns, from = 0, to = Infinity): RunTimes {
  const files = paths.length / PATH_BYTES;
  if (!Number.isInteger(files) || seconds.length !== SECONDS_BYTES * files)
    throw new Error(`a recorded run has ${paths.length + seconds.length} bytes, which is not a whole number of test files`);
  return {
    paths: new Uint32Array(copyOf(paths.subarray(PATH_BYTES * from, PATH_BYTES * to))),
    seconds: new Float64Array(copyOf(seconds.subarray(SECONDS_BYTES * from, SECONDS_BYTES * to))),
  };
}

/** How many test files a run has. */
export function fileCount({ paths }: Columns): number {
  return paths.length / PATH_BYTES;
}

/** Whether two runs have the same CI run, test files and times. */
export function areSameRuns(a: RunRecord, b: RunRecord): boolean {
  return a.ci_run === b.ci_run && a.paths.equals(b.paths) && a.seconds.equals(b.seconds);
}

/** A copy of bytes, where the elements of an array are aligned. */
export function copyOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
