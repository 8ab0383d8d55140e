import type { Problem } from '../store/check/problem.js';

/** A problem as it is printed. */
export type FoundProblem = Omit<Problem, 'repair'> & { repairable: boolean };

export function toFound(problems: readonly Problem[]): FoundProblem[] {
  return problems.map(({ table, key, what, repair }) => ({ table, key, what, repairable: repair !== null }));
}
