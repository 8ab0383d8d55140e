import type { Store } from '../open.js';
import { pathKey, pathOfKey } from '../path-keys.js';
import { decodeTimings, encodeTimings } from '../timing-codec.js';
import type { Problem, Seen } from './problem.js';

/** Paths, their numbers, names and timings. */
export function* problemsOfPaths(store: Store, seen: Seen): Generator<Problem> {
  for (const { key, value: number } of store.paths.getRange()) {
    seen('paths');
    const problem = (what: string, repair: Problem['repair']): Problem => ({ table: 'paths', key, what, repair });
    const { project, path } = pathOfKey(key);
    const name = store.pathNames.get(number);
    if (name === undefined) {
      yield problem(`has number ${number}, which has no name`, path === null ? null : () => store.pathNames.put(number, JSON.stringify(path)));
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
  for (const number of store.pathNames.getKeys()) {
    if (store.timings.doesExist(number)) continue;
    yield { table: 'pathNames', key: number, what: 'would never expire', repair: () => store.pathNames.remove(number) };
  }
  for (const { key: number, value } of store.timings.getRange()) {
    seen('timings');
    try {
      yield* problemsOfTimings(store, number, decodeTimings(value).project);
    } catch (error) {
      yield { table: 'timings', key: number, what: `cannot be read: ${(error as Error).message}`, repair: null };
    }
  }
}

function* problemsOfTimings(store: Store, number: number, project: number): Generator<Problem> {
  const problem = (what: string, repair: Problem['repair']): Problem => ({ table: 'timings', key: number, what, repair });
  if (!store.projects.doesExist(project)) yield problem(`is of project ${project}, which is not there`, null);
  const name = store.pathNames.get(number);
  if (name === undefined) {
    yield problem('is of a path without a name', () => store.timings.remove(number));
    return;
  }
  const key = pathKey(project, JSON.parse(name) as string);
  const found = store.paths.get(key);
  if (found === undefined) yield problem(`is not found by its path ${name}`, () => store.paths.put(key, number));
  else if (found !== number) yield problem(`is of the path ${name}, which has number ${found}`, null);
}
