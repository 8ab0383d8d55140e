import { rounded } from '../../../base/rounding.js';
import { CI_RUNS_OF_TREE, type TreeAndKeys } from '../completeness/checkouts.js';
import { provedFiles } from '../completeness/proved-files.js';
import type { Millis, Store } from '../ports/store.js';
import type { LeftOut } from './compare-lists.js';
import { type Suite, suiteOf } from './suite.js';

/** The tree and keys of the node that creates a queue. */
export interface AskedProved extends TreeAndKeys {
  /** Seconds. Older CI runs prove nothing. */
  maxAge: number;
}

/** The files of a suite, with their sizes if they are known: see `estimate`. */
interface SizedSuite {
  suite: Suite;
  sizes: readonly number[];
}

/** The files of a suite that no CI run of the tree proved. Null: all. */
export async function unprovedFiles(
  store: Store,
  project: number,
  { suite, sizes }: SizedSuite,
  { tree, keys, maxAge }: AskedProved,
  at: Millis,
): Promise<(SizedSuite & { leftOut: LeftOut }) | null> {
  const ofTree = await store.ciRuns.ofTree(project, tree, CI_RUNS_OF_TREE);
  const young = ofTree.filter(({ created_at }) => created_at > at - 1000 * maxAge);
  const { files, ciRuns } = await provedFiles(store, young, { digest: suite.columns.digest, test_files: suite.length }, { tree, keys });
  if (files.size === 0) return null;
  const listed = suite.strings();
  const seconds = [...files.values()].reduce((sum, file) => sum + file.seconds, 0);
  return {
    suite: suiteOf(listed.filter(path => !files.has(path))),
    sizes: sizes.filter((_, i) => !files.has(listed[i]!)),
    leftOut: {
      ...{ tree, keys, test_files: files.size, seconds: rounded(seconds, 1000) },
      ci_runs: ciRuns.map(({ id, ci_run }) => ({ ci_run_id: id, ci_run })),
    },
  };
}
