import type { CuttableFile } from '../../planning/cutting/cut.js';
import { toWeight } from '../../planning/weight.js';
import type { KnownCases } from './known-cases.js';

/** Returns a file as the planner may cut it. Null: it stays whole, by what is known of its cases. @param file its place among the files */
export function cuttable(known: KnownCases | null, file: number): CuttableFile | null {
  if (!known || known.notCut || known.cases.length < 2) return null;
  return { file, cases: known.cases.map(({ seconds }) => toWeight(seconds)), own: toWeight(known.own) };
}
