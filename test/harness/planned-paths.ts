import { type Suite, suiteOf } from '../../src/server/engine/suites/suite.js';
import { type PathTimes, pathOf } from '../../src/server/planning/estimating/estimate.js';

/** Distinct paths as a plan has them, in their order. */
export function plannedPaths(paths: readonly string[]): Pick<PathTimes<Suite>, 'list' | 'order'> {
  const list = suiteOf(paths);
  return { list, order: Uint32Array.from(paths, path => list.indexOf(path)) };
}

/** The paths of a plan, in its order. */
export function pathsOf(plan: Pick<PathTimes, 'list' | 'order'>): string[] {
  return Array.from(plan.order, (_, planned) => pathOf(plan, planned));
}

/** Values by path in the order of the list of these paths. */
export function inListOrder<T>(paths: readonly string[], values: readonly T[]): T[] {
  const byPath = new Map(paths.map((path, i) => [path, values[i]!]));
  return suiteOf(paths)
    .strings()
    .map(path => byPath.get(path)!);
}
