import { parentPort, workerData } from 'node:worker_threads';
import { type Problem, repairAll, toFound } from '../../../server/store/check/problem.js';
import { problemsOf, projectNames } from '../../../server/store/lmdb/check/check.js';
import type { Parts } from '../../../server/store/lmdb/parts.js';
import type { CheckInput, CheckOutcome, CheckProgress } from '../check.js';
import { withFolder } from './data-folder.js';

/** The thread that checks a store for `check`. The check never yields, so the main thread must handle signals. */

const PROGRESS_MILLISECONDS = 200;

const { dataDir, isRepairing } = workerData as CheckInput;
const outcome = await withFolder(dataDir, async ({ parts }) => {
  const { found, records } = findProblems(parts);
  const left = isRepairing ? await repairAll(found, async () => findProblems(parts).found) : found;
  const projects = projectNames(parts);
  return { found: toFound(found, projects), left: toFound(left, projects), records } satisfies CheckOutcome;
});
parentPort!.postMessage(outcome);

function findProblems(parts: Parts): { found: Problem[]; records: Map<string, number> } {
  const records = new Map<string, number>();
  let next = performance.now() + PROGRESS_MILLISECONDS;
  const found = [
    ...problemsOf(parts, table => {
      const count = (records.get(table) ?? 0) + 1;
      records.set(table, count);
      if (performance.now() < next) return;
      next = performance.now() + PROGRESS_MILLISECONDS;
      parentPort!.postMessage({ table, count } satisfies CheckProgress);
    }),
  ];
  return { found, records };
}
