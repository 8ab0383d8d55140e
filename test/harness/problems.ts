import { problemsOf } from '../../src/store/lmdb/check/check.js';
import { sentenceOf } from '../../src/store/lmdb/check/problem.js';
import { openStore } from '../../src/store/lmdb/open.js';

/** Returns the problems that `ballast check` finds. A server in this process must be closed first: two stores on one file may block each other. */
export async function problemsIn(dataDir: string): Promise<string[]> {
  const store = openStore(dataDir);
  const sentences = [...problemsOf(store, () => {})].map(sentenceOf);
  // Closes only the database: a running server may use everything else.
  await store.root.close();
  return sentences;
}
