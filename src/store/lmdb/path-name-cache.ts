import { LRUCache } from 'lru-cache';
import { memoryBounds } from '../../memory-bounds.js';
import type { Tables } from './tables.js';

/** Returns the name of a path by its number. */
export type NameOfPath = (path: number) => string;

/** Approximate size of an entry without its characters, which take at most two bytes each. */
const BYTES_PER_NAME = 200;

/** Reads names through a cache, because the runs of a project have the same paths. A name never changes: no number is used twice. */
export function pathNameCache({ pathNames }: Pick<Tables, 'pathNames'>): NameOfPath {
  const names = new LRUCache<number, string>({
    maxSize: memoryBounds.pathNames,
    sizeCalculation: name => BYTES_PER_NAME + 2 * name.length,
  });
  return path => {
    let name = names.get(path);
    if (name !== undefined) return name;
    const json = pathNames.get(path);
    if (json === undefined) return `(path ${path}, whose name is lost)`;
    names.set(path, (name = JSON.parse(json) as string));
    return name;
  };
}
