import type { Soon } from '../../soon.js';
import type { EncodedCases, ToldCases } from '../pieces/told-cases.js';
import type { Millis } from './store.js';

/** The test cases of long test files, as clients told them last: of each file, and of each of its pieces. */
export interface Cases {
  /** Keeps what a client told of files and pieces, in place of what was told of them before, in parts. What is of a deleted project is not kept. */
  tell(project: number, told: EncodedCases, at: Millis): Promise<void>;
  /** What was told last of a file and of its pieces. Null: that is more than so many bytes, and was not decoded. */
  of(project: number, file: string, mostBytes: number): Soon<CasesOfFile | null>;
}

export interface CasesOfFile {
  kept: KeptCases[];
  /** What it takes in the store. */
  bytes: number;
}

export interface KeptCases extends ToldCases {
  at: Millis;
}
