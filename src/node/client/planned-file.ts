import { durationText } from '../../base/duration.js';
import type { Piece } from '../pieces/piece.js';

/** A test file that the server gave to this node. */
export interface PlannedFile {
  path: string;
  /** Expected seconds; null: never measured. */
  expected: number | null;
  /** Expected seconds with those that reports do not tell; missing: not known. */
  duration?: number;
  /** Missing: it is a whole file. */
  piece?: Piece;
}

/** Returns the sum of the expected seconds, null if no file was measured, and how many files were never measured. */
export function estimateOf(files: readonly PlannedFile[]): { seconds: number | null; unmeasured: number } {
  const measured = files.flatMap(({ expected }) => (expected === null ? [] : [expected]));
  const seconds = measured.length === 0 ? null : measured.reduce((sum, time) => sum + time, 0);
  return { seconds, unmeasured: files.length - measured.length };
}

/** The same as the end of a sentence, such as ", 41 s by estimate, 2 never measured". */
export function estimateText(files: readonly PlannedFile[]): string {
  const { seconds, unmeasured } = estimateOf(files);
  const never = unmeasured === 0 ? '' : `, ${seconds === null ? '' : `${unmeasured} `}never measured`;
  return `${seconds === null ? '' : `, ${durationText(seconds)} by estimate`}${never}`;
}
