import { sentenceOf } from '../../src/store/check/problem.js';
import { problemsOf } from '../../src/store/lmdb/check/check.js';
import { openParts } from '../../src/store/lmdb/parts.js';

/** Returns the problems that `ballast check` finds. A server in this process must be closed first: two stores on one file may block each other. */
export async function problemsIn(dataDir: string): Promise<string[]> {
  const parts = openParts(dataDir);
  const sentences = [...problemsOf(parts, () => {})].map(sentenceOf);
  // Only the file: a running server may have the rest open.
  await parts.root.close();
  return sentences;
}
