import { sharedMemory } from '../bytes.js';
import { limits } from '../limits.js';
import { type PathList, pathList } from '../planning/paths/path-list.js';

/** How messages list test files. */
export type Listed = readonly (string | { path: string })[];

const lists = new WeakMap<Listed, PathList>();

/** Returns the list of the paths in a message, which is made once. A path that is listed twice is run once. */
export function listedPaths(listed: Listed): PathList {
  let list = lists.get(listed);
  if (!list) {
    // Threads share the lists of large suites.
    list = listed.length < limits.pooledTestFiles ? pathList(pathsOf(listed)) : pathList(pathsOf(listed), sharedMemory);
    lists.set(listed, list);
  }
  return list;
}

function pathsOf(listed: Listed): string[] {
  return listed.map(file => (typeof file === 'string' ? file : file.path));
}

/** Returns the list that was made for a value of a message; null: none was. */
export function listMadeFor(value: unknown): PathList | null {
  return lists.get(value as Listed) ?? null;
}

/** Returns what stands for a list in a message that is validated again: its first entry. @param list it is not empty */
export function standInFor(list: PathList, isOfObjects: boolean): Listed {
  const path = list.at(0);
  const listed = isOfObjects ? [{ path }] : [path];
  lists.set(listed, list);
  return listed;
}
