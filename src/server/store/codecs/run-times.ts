import type { RunHead, RunTimes } from '../../engine/ports/builds.js';

/** The times of a recorded run, as bytes. */
interface Times {
  times: Buffer;
}

/** Each test file has 12 bytes, little-endian: the number of its path, and above its bits the code of its outcome (4), its seconds (8). */
const SECONDS_AT = 4;
export const FILE_BYTES = 12;
const PATH_BITS = 29;
const MOST_PATHS = 2 ** PATH_BITS;

/** The bytes of a run, to be filled by `setTime`. */
export function newTimes(files: number): Buffer {
  return Buffer.allocUnsafe(FILE_BYTES * files);
}

/** A view of the times of a run: many times as fast as the methods of a Buffer. */
export function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** @param outcome its code, see outcomeOf in test-file.ts */
export function setTime(times: DataView, file: number, path: number, seconds: number, outcome: number): void {
  if (path >= MOST_PATHS) throw new Error(`the store has numbered ${path} paths, and can record ${MOST_PATHS - 1}`);
  times.setUint32(FILE_BYTES * file, outcome * MOST_PATHS + path, true);
  times.setFloat64(FILE_BYTES * file + SECONDS_AT, seconds, true);
}

export function pathAt(times: DataView, file: number): number {
  return times.getUint32(FILE_BYTES * file, true) % MOST_PATHS;
}

function outcomeAt(times: DataView, file: number): number {
  return times.getUint32(FILE_BYTES * file, true) >>> PATH_BITS;
}

export function secondsAt(times: DataView, file: number): number {
  return times.getFloat64(FILE_BYTES * file + SECONDS_AT, true);
}

/** Decodes the test files of a run from one index to another. Throws a sentence on bytes that are no run. */
export function timesOf(run: Times, from = 0, to = Infinity): RunTimes {
  const files = fileCount(run);
  if (!Number.isInteger(files)) throw new Error(`a recorded run has ${run.times.length} bytes, which is not a whole number of test files`);
  const times = viewOf(run.times);
  const count = Math.max(0, Math.min(files, to) - from);
  return {
    paths: Uint32Array.from({ length: count }, (_, i) => pathAt(times, from + i)),
    seconds: Float64Array.from({ length: count }, (_, i) => secondsAt(times, from + i)),
    outcomes: Uint8Array.from({ length: count }, (_, i) => outcomeAt(times, from + i)),
  };
}

/** The number of test files of a run. */
export function fileCount({ times }: Times): number {
  return times.length / FILE_BYTES;
}

/** Tells whether two runs have the same CI run, test files, times and outcomes. */
export function areSameRuns(a: Times & Pick<RunHead, 'ci_run'>, b: Times & Pick<RunHead, 'ci_run'>): boolean {
  return a.ci_run === b.ci_run && a.times.equals(b.times);
}

/** A copy of bytes, where the elements of an array are aligned. */
export function copyOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
