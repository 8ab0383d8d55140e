import type { Subject } from '../engine/insight/subject.js';
import type { Build } from '../engine/ports/builds.js';
import type { Store } from '../engine/ports/store.js';
import { limits } from '../limits.js';
import { BASIS_BYTES } from '../planning/estimating/basis.js';

/** What is read on the main thread, because it takes no longer than to ask a worker thread. */

/** Counts the files that a CI run planned and recorded, and its nodes. */
export async function isSmallSubject({ queues, splits }: Store, { ciRun, recorded, build }: Subject): Promise<boolean> {
  const plan = ciRun && (await (ciRun.kind === 'queue' ? queues.basis(ciRun.plan) : splits.basis({ id: ciRun.plan })));
  // It expired.
  if (ciRun && !plan) return false;
  // At most so many: a guess takes more bytes.
  const planned = (plan?.length ?? 0) / BASIS_BYTES;
  return planned + build.node_total + (recorded ? recorded.test_files + recorded.subsets : 0) < limits.pooledInsightFiles;
}

export function isSmallBuild({ test_files, subsets }: Build): boolean {
  return test_files + subsets < limits.pooledTestFiles;
}
