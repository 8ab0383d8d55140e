import { pathKey, pathOfKey } from '../codecs/path-keys.js';
import { decodeTimings, encodeTimings } from '../codecs/timing-codec.js';
import type { Tables } from '../tables.js';
import { ofRecord, type Problem, problemOf, type Seen } from './problem.js';

/** Problems of paths, their numbers, names and timings. No repair removes a record that a path leads to. */
export function* problemsOfPaths(tables: Tables, seen: Seen): Generator<Problem> {
  /** Has 1 at the number of each path. */
  const found = new Uint8Array(lastNumber(tables) + 1);
  for (const { key, value: number } of tables.paths.getRange()) {
    seen('paths');
    found[number] = 1;
    yield* ofRecord('paths', key, () => problemsOfPath(tables, key, number));
  }
  for (const number of tables.pathNames.getKeys()) {
    if (found[number] === 1 || tables.timings.doesExist(number)) continue;
    yield { table: 'pathNames', key: number, what: 'would never expire', repair: null };
  }
  for (const { key: number, value } of tables.timings.getRange()) {
    seen('timings');
    yield* ofRecord('timings', number, () => problemsOfTimings(tables, number, decodeTimings(value).project, found[number] === 1));
  }
}

function* problemsOfPath(tables: Tables, key: string, number: number): Generator<Problem> {
  const problem = problemOf('paths', key);
  const { project, path } = pathOfKey(key);
  const name = tables.pathNames.get(number);
  if (name === undefined) {
    yield problem(
      `has number ${number}, which has no name`,
      path === null ? null : () => tables.pathNames.put(number, JSON.stringify(path)),
    );
  } else if (pathKey(project, JSON.parse(name) as string) !== key) {
    yield problem(`has number ${number}, which has the name ${name}`, null);
  }
  if (!tables.timings.doesExist(number)) {
    // The repair treats it as a new path, because its times are lost.
    yield problem(`has number ${number}, which has no timings`, () =>
      tables.timings.put(number, encodeTimings({ project, seen_at: Date.now(), timings: [] })),
    );
  }
}

function* problemsOfTimings(tables: Tables, number: number, project: number, isFound: boolean): Generator<Problem> {
  const problem = problemOf('timings', number);
  if (!tables.projects.doesExist(project)) yield problem(`is of project ${project}, which does not exist`, null);
  const name = tables.pathNames.get(number);
  if (name === undefined) {
    // Without a path and a name, nothing can find it.
    if (!isFound) yield problem('is of no path', () => tables.timings.remove(number));
    return;
  }
  const key = pathKey(project, JSON.parse(name) as string);
  const known = tables.paths.get(key);
  if (known === undefined) yield problem(`is not found by its path ${name}`, () => tables.paths.put(key, number));
  else if (known !== number) yield problem(`is of the path ${name}, which has number ${known}`, null);
}

function lastNumber(tables: Tables): number {
  let last = 0;
  for (const { value } of tables.paths.getRange()) last = Math.max(last, value);
  return last;
}
