import type { Soon } from '../../soon.js';
import type { EncodedCases, ToldCases } from '../pieces/told-cases.js';
import type { Millis } from './store.js';

/** The test cases of long test files, as clients told them last: of each file, and of each of its pieces. */
export interface Cases {
  /** Keeps what a client told of files and pieces, in place of what was told of them before, in parts. What is of a deleted project is not kept. */
  tell(project: number, told: EncodedCases, at: Millis): Promise<void>;
  /** What was told last of each of these files and of its pieces, in the order of the files. */
  of(project: number, files: readonly string[]): Soon<KeptCases[][]>;
}

export interface KeptCases extends ToldCases {
  at: Millis;
}
