import { parentPort, workerData } from 'node:worker_threads';
import { type Problem, repair } from '../../store/check/problem.js';
import { problemsOf } from '../../store/lmdb/check/check.js';
import type { Parts } from '../../store/lmdb/parts.js';
import type { CheckInput, CheckOutcome, CheckProgress, FoundProblem } from '../check.js';
import { withFolder } from './data-folder.js';

/** The thread that checks a store for `check`. The check never yields, so the main thread must handle signals. */

/** A repair may reveal further problems: a build without runs is still listed. */
const MAX_ROUNDS = 5;
const PROGRESS_MILLISECONDS = 200;

const { dataDir, isRepairing } = workerData as CheckInput;
const outcome = await withFolder(dataDir, async ({ parts }) => {
  const { found, records } = findProblems(parts);
  const left = isRepairing ? await repairAll(parts, found) : found;
  return { found: toMessage(found), left: toMessage(left), records } satisfies CheckOutcome;
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

async function repairAll(parts: Parts, found: readonly Problem[]): Promise<readonly Problem[]> {
  let left = found;
  for (let round = 0; round < MAX_ROUNDS && left.some(problem => problem.repair); round++) {
    await repair(left);
    left = findProblems(parts).found;
  }
  return left;
}

function toMessage(problems: readonly Problem[]): FoundProblem[] {
  return problems.map(({ table, key, what, repair }) => ({ table, key, what, repairable: repair !== null }));
}
