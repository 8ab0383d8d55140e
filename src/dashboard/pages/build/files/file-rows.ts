import type { TimelineAnswer } from '../../../../protocol/answers/timeline.js';
import { isFiltering, matchPaths, type RunFilter } from '../../../timeline/filter.js';
import { failureText, type Lane, MISSING, RUNNING } from '../../../timeline/lanes.js';

/** A file in the hands of a node; a file that two nodes had stands there twice. */
export interface FileRow {
  path: string;
  /** Seconds; null: not planned. */
  estimate: number | null;
  isGuess: boolean;
  /** Null: not recorded. */
  seconds: number | null;
  /** Null: unknown, or the estimate is 0. */
  ratio: number | null;
  /** Null: no node had it. */
  node: number | null;
  batch: number | null;
  /** See `failureText`. */
  failure: string;
  isRunning: boolean;
  /** No node recorded it. */
  isMissing: boolean;
}

/** Returns the rows of the lanes, which are filtered already, and the files that no node had. */
export function fileRows(
  { paths, estimates, is_guess }: TimelineAnswer,
  all: readonly Lane[],
  shown: readonly Lane[],
  filter: RunFilter,
): FileRow[] {
  const rowOf = (file: number, seconds: number | null) => {
    const estimate = estimates[file] ?? null;
    const ratio = seconds !== null && estimate ? seconds / estimate : null;
    return { path: paths[file]!, estimate, isGuess: is_guess[file] === 1, seconds, ratio };
  };
  const rows: FileRow[] = [];
  for (const lane of shown) {
    lane.file.forEach((file, run) => {
      const seconds = Number.isNaN(lane.seconds[run]!) ? null : lane.seconds[run]!;
      const batch = lane.batches[lane.batch[run]!]!.number;
      rows.push({
        ...rowOf(file, seconds),
        node: lane.node,
        batch,
        failure: failureText(lane.flags[run]!),
        isRunning: (lane.flags[run]! & RUNNING) !== 0,
        isMissing: (lane.flags[run]! & MISSING) !== 0,
      });
    });
  }
  // Nobody can have failed or repeated what no node had.
  if (filter.node !== null || (filter.flags & ~MISSING) !== 0) return rows;
  const isHandedOut = new Uint8Array(paths.length);
  for (const { file } of all) for (const index of file) isHandedOut[index] = 1;
  const isMatch = isFiltering(filter) ? matchPaths(paths, filter) : null;
  for (let file = 0; file < paths.length; file++) {
    if (!isHandedOut[file] && (isMatch === null || isMatch[file]))
      rows.push({ ...rowOf(file, null), node: null, batch: null, failure: '', isRunning: false, isMissing: true });
  }
  return rows;
}
