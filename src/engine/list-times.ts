import { BASIS_BYTES } from '../planning/estimating/basis.js';
import type { KnownTimes } from '../planning/estimating/estimate.js';
import type { LookedUpTimes } from '../planning/estimating/known-times.js';
import { copyNumbers, type Match, matchPaths } from '../planning/paths/match-paths.js';
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
  const matches = matchPaths(list, base.list);
  const matched = matches.reduce((sum, { length }) => sum + length, 0);
  // To look up the others by themselves, a list is made of them.
  if (!times || matched < list.length / 2) {
    copyNumbers(list, base.list, matches);
    return timings.estimates(project, branch, list, mostCases);
  }
  const others = filesBetween(matches, list.length);
  // The files are sorted, so their list has the same order.
  const fresh = await timings.estimates(project, branch, pathList(others.map(file => list.at(file))), mostCases);
  const seconds = new Float64Array(list.length);
  const basis = new Uint8Array(BASIS_BYTES * list.length);
  const copy = (from: KnownTimes, { file, other, length }: Match) => {
    seconds.set(from.seconds.subarray(other, other + length), file);
    basis.set(from.basis.subarray(BASIS_BYTES * other, BASIS_BYTES * (other + length)), BASIS_BYTES * file);
  };
  for (const match of matches) copy(times, match);
  for (let other = 0; other < others.length; other++) copy(fresh, { file: others[other]!, other, length: 1 });
  return { seconds, basis, files: new Map([...times.files, ...fresh.files]), isComplete: fresh.isComplete };
}

/** The files of a list that are in none of the matches. */
function filesBetween(matches: readonly Match[], files: number): number[] {
  const between: number[] = [];
  let at = 0;
  for (const { file, length } of [...matches, { file: files, length: 0 }]) {
    for (; at < file; at++) between.push(at);
    at = file + length;
  }
  return between;
}
