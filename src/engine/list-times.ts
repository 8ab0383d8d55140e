import { BASIS_BYTES } from '../planning/estimating/basis.js';
import type { KnownTimes } from '../planning/estimating/estimate.js';
import type { LookedUpTimes } from '../planning/estimating/known-times.js';
import { copyNumbers, matchPaths } from '../planning/paths/match-paths.js';
import { type PathList, pathList } from '../planning/paths/path-list.js';
import type { Timings } from './ports/timings.js';

/** What was known of the paths of a list on a branch. */
export interface ListTimes extends KnownTimes {
  /** See `Timings.version`. */
  version: string;
  branch: string;
}

/** A list that a project sent before, which most lists resemble. */
export interface BaseList {
  list: PathList;
  /** Null: not known. */
  times: ListTimes | null;
}

export interface TimesQuestion {
  project: number;
  branch: string;
  list: PathList;
  mostCases: number;
}

/**
 * Looks up what is known of a list. Of the paths that the base has as well, the store's numbers are taken over, and their times if these were
 * looked up with the same version.
 * @param version null: it is unknown
 */
export async function timesOfList(
  timings: Timings,
  asked: TimesQuestion,
  base: BaseList | null,
  version: string | null,
): Promise<LookedUpTimes> {
  const { project, branch, list, mostCases } = asked;
  if (!base) return timings.estimates(project, branch, list, mostCases);
  const times = base.times?.version === version && base.times.branch === branch ? base.times : null;
  if (times && base.list.columns.digest === list.columns.digest) return { ...times, isComplete: true };
  const match = matchPaths(list, base.list);
  if (!times) {
    copyNumbers(list, base.list, match);
    return timings.estimates(project, branch, list, mostCases);
  }
  const others = Array.from(match.keys()).filter(file => match[file] === -1);
  // The files are sorted, so their list has the same order.
  const fresh = await timings.estimates(project, branch, pathList(others.map(file => list.at(file))), mostCases);
  const seconds = new Float64Array(list.length);
  const basis = new Uint8Array(BASIS_BYTES * list.length);
  const copy = (file: number, from: KnownTimes, source: number) => {
    seconds[file] = from.seconds[source]!;
    for (let part = 0; part < BASIS_BYTES; part++) basis[BASIS_BYTES * file + part] = from.basis[BASIS_BYTES * source + part]!;
  };
  for (let file = 0; file < match.length; file++) if (match[file]! >= 0) copy(file, times, match[file]!);
  for (let i = 0; i < others.length; i++) copy(others[i]!, fresh, i);
  return { seconds, basis, files: new Map([...times.files, ...fresh.files]), isComplete: fresh.isComplete };
}
