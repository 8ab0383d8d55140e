import type { CaseOutcomes } from '../../case-outcomes.js';
import type { Store } from '../ports/store.js';

/** What a client told of the test cases of a file, or of a piece of it. */
export interface ToldCases {
  file: string;
  /** Which piece of how many; null: the whole file. */
  piece: { number: number; count: number } | null;
  /** A digest of the CI run and its build. */
  ci_run: string;
  commit_hash: string;
  /** The test runner that knows the cases by these names; null: the names are those of reports, and no runner knows them. */
  runner: string | null;
  /** What the file or piece took. */
  seconds: number;
  /** In their order in the file; each name once. */
  cases: readonly ToldCase[];
  /** Cases that did not pass in the piece, but passed in the whole file right afterwards. */
  passed_whole: readonly string[];
}

export interface ToldCase {
  name: string;
  seconds: number;
  outcomes: CaseOutcomes;
}

/** Leaves out cases with names of reports where cases with names of a runner are kept: only these names select cases. */
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
