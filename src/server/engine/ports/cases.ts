import type { Soon } from '../../../base/soon.js';
import type { EncodedCases, ToldCases } from '../pieces/told-cases.js';
import type { Millis } from './store.js';

/** The test cases of long test files, as clients told them last: of each file, and of each of its pieces. */
export interface Cases {
  /** Keeps what a client told of files and pieces, in place of what was told of them before, in parts. What is of a deleted project is not kept. */
  tell(project: number, told: EncodedCases, at: Millis): Promise<void>;
  /** Returns the last reports on a file and on its pieces, and their bytes in the store. Null: there are more than `mostBytes`; none is decoded. */
  of(project: number, file: string, mostBytes: number): Soon<{ kept: KeptCases[]; bytes: number } | null>;
}

export interface KeptCases extends ToldCases {
  at: Millis;
}
