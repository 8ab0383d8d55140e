import { sentenceOf } from '../../src/server/store/check/problem.js';
import { problemsOf } from '../../src/server/store/lmdb/check/check.js';
import { openParts } from '../../src/server/store/lmdb/parts.js';
import { invariant } from './invariants.js';

/** Checks the store of a folder that no server has open. Returns a sentence for each problem. */
export async function checkStore(dataDir: string): Promise<string[]> {
  const parts = openParts(dataDir);
  const problems = [...problemsOf(parts, () => {})].map(sentenceOf);
  await parts.root.close();
  return problems;
}

export function expectSound(problems: readonly string[]): void {
  invariant(problems.length === 0, `the store is not sound: ${problems.slice(0, 5).join('; ')}`);
}
