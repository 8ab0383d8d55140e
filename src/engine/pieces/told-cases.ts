import type { Store } from '../ports/store.js';

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

/** Leaves out what is told by names of reports where the names of a runner are known: only these select cases. */
export async function toKeep({ cases }: Pick<Store, 'cases'>, project: number, told: readonly ToldCases[]): Promise<ToldCases[]> {
  const unnamed = told.filter(({ runner }) => runner === null);
  if (unnamed.length === 0) return [...told];
  const kept = await cases.of(
    project,
    unnamed.map(({ file }) => file),
  );
  const named = new Set(unnamed.filter((_, i) => kept[i]!.some(({ runner }) => runner !== null)));
  return told.filter(one => !named.has(one));
}
