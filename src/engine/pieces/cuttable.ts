import type { CuttableFile } from '../../planning/cutting/cut.js';
import { toWeight } from '../../planning/weight.js';
import type { KnownCases } from './known-cases.js';

/** A file as it may be cut. Null: it may not, by what is known of its cases. @param weight of the file at this place among the files */
export function cuttable(known: KnownCases | null, file: number, weight: number): CuttableFile | null {
  if (!known || known.notCut || known.cases.length < 2) return null;
  const cases = known.cases.map(({ seconds }) => toWeight(seconds));
  return { file, cases, own: Math.round(known.own * toWeight(1)), weight };
}
