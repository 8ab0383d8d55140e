import type { Parts } from '../open.js';
import { pathKey, pathOfKey } from '../path-keys.js';
import { decodeTimings, encodeTimings } from '../timing-codec.js';
import { ofRecord, type Problem, problemOf, type Seen } from './problem.js';

/** Paths, their numbers, names and timings. Nothing is removed that a path leads to. */
export function* problemsOfPaths(store: Parts, seen: Seen): Generator<Problem> {
  /** 1 at the number of each path. */
  const found = new Uint8Array(lastNumber(store) + 1);
  for (const { key, value: number } of store.paths.getRange()) {
    seen('paths');
    found[number] = 1;
    yield* ofRecord('paths', key, () => problemsOfPath(store, key, number));
  }
  for (const number of store.pathNames.getKeys()) {
    if (found[number] === 1 || store.timings.doesExist(number)) continue;
    yield { table: 'pathNames', key: number, what: 'would never expire', repair: null };
  }
  for (const { key: number, value } of store.timings.getRange()) {
    seen('timings');
    yield* ofRecord('timings', number, () => problemsOfTimings(store, number, decodeTimings(value).project, found[number] === 1));
  }
}

function* problemsOfPath(store: Parts, key: string, number: number): Generator<Problem> {
  const problem = problemOf('paths', key);
  const { project, path } = pathOfKey(key);
  const name = store.pathNames.get(number);
  if (name === undefined) {
    yield problem(
      `has number ${number}, which has no name`,
      path === null ? null : () => store.pathNames.put(number, JSON.stringify(path)),
    );
  } else if (pathKey(project, JSON.parse(name) as string) !== key) {
    yield problem(`has number ${number}, which has the name ${name}`, null);
  }
  if (!store.timings.doesExist(number)) {
    // As new: what it took is lost.
    yield problem(`has number ${number}, which has no timings`, () =>
      store.timings.put(number, encodeTimings({ project, seen_at: Date.now(), timings: [] })),
    );
  }
}

function* problemsOfTimings(store: Parts, number: number, project: number, isFound: boolean): Generator<Problem> {
  const problem = problemOf('timings', number);
  if (!store.projects.doesExist(project)) yield problem(`is of project ${project}, which is not there`, null);
  const name = store.pathNames.get(number);
  if (name === undefined) {
    // No path, no name: nobody can ask for it.
    if (!isFound) yield problem('is of no path', () => store.timings.remove(number));
    return;
  }
  const key = pathKey(project, JSON.parse(name) as string);
  const known = store.paths.get(key);
  if (known === undefined) yield problem(`is not found by its path ${name}`, () => store.paths.put(key, number));
  else if (known !== number) yield problem(`is of the path ${name}, which has number ${known}`, null);
}

function lastNumber(store: Parts): number {
  let last = 0;
  for (const { value } of store.paths.getRange()) last = Math.max(last, value);
  return last;
}
