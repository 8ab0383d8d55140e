/** What a client told of the test cases of a file, or of a piece of it. */
export interface ToldCases {
  file: string;
  /** Which piece of how many; null: the whole file. */
  piece: { number: number; count: number } | null;
  /** A digest of the build and its CI run. */
  ci_run: string;
  commit_hash: string;
  /** Whose names the cases have; null: of reports only, and no runner knows them by these names. */
  runner: string | null;
  /** What the file or piece took. */
  seconds: number;
  /** In their order in the file. */
  cases: readonly ToldCase[];
  /** Cases that did not pass in the piece, and passed when the whole file ran right afterwards. */
  passed_whole: readonly string[];
}

export interface ToldCase {
  name: string;
  seconds: number;
  outcome: 'passed' | 'failed' | 'skipped';
}
