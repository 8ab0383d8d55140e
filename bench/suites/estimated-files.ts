import { suiteOf } from '../../src/server/engine/suites/suite.js';
import { emptyBasis } from '../../src/server/planning/estimating/basis.js';
import { estimate } from '../../src/server/planning/estimating/estimate.js';

/** The files of a suite as the server estimates them from their recorded times; null: never measured. */
export function estimatedFiles(paths: readonly string[], recorded: readonly (number | null)[], mode: 'queue' | 'split') {
  const times = new Map(paths.map((path, i) => [path, recorded[i]]));
  const list = suiteOf(paths);
  const seconds = Float64Array.from(list.strings(), path => times.get(path) ?? NaN);
  return estimate(list, { seconds, files: new Map<string, number>(), basis: emptyBasis(list.length) }, mode);
}
