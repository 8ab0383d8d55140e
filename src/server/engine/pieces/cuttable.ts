import type { CuttableFile } from '../../planning/cutting/cut.js';
import { toWeight } from '../../planning/weight.js';
import type { KnownCases } from './known-cases.js';

/** Reports whether the known cases of a file let the planner cut it. */
export function mayBeCut({ notCut, cases }: KnownCases): boolean {
  return notCut === null && cases.length > 1;
}

/** Returns a file as the planner may cut it. Null: it stays whole, by what is known of its cases. @param file its place among the files */
export function cuttable(known: KnownCases | null, file: number): CuttableFile | null {
  if (!known || !mayBeCut(known)) return null;
  return { file, cases: known.cases.map(({ seconds }) => toWeight(seconds)), own: toWeight(known.own) };
}
