import type { Soon } from '../../../base/soon.js';
import type { CaseReport, EncodedCases } from '../pieces/case-report.js';
import type { Millis } from './store.js';

/** The test cases of long test files, as clients reported them last: of each file, and of each of its pieces. */
export interface Cases {
  /** Keeps a client's reports on files and pieces, in place of earlier reports on them, in parts. Reports of a deleted project are not kept. */
  keep(project: number, reports: EncodedCases, at: Millis): Promise<void>;
  /** Returns the last reports on a file and on its pieces, and their bytes in the store. Null: there are more than `mostBytes`; none is decoded. */
  of(project: number, file: string, mostBytes: number): Soon<{ kept: KeptCases[]; bytes: number } | null>;
}

export interface KeptCases extends CaseReport {
  at: Millis;
}
