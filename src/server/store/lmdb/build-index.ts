import { type BuildFilter, type BuildKey, digest } from '../../engine/keys.js';
import type { ListPart } from '../../engine/ports/builds.js';
import type { Tables } from './tables.js';

/**
 * Each build is in `buildIndex` under each filter that finds it, and `buildCounts` has their number: a list tells how many builds there are,
 * and LMDB counts a million keys in 0.2 s. Builds that were created later have greater numbers.
 */

type Index = Pick<Tables, 'buildIndex' | 'buildCounts'>;

function filterKey(project: number, { commit_hash, branch, node_total }: BuildFilter): string {
  return digest(project, commit_hash ?? null, branch ?? null, node_total ?? null);
}

/** Number of filters that find a build. */
const FILTERS = 8;

/** The keys of a build in `buildIndex`. */
export function indexKeys(project: number, { commit_hash, branch, node_total }: BuildKey, number: number): [string, number][] {
  return Array.from({ length: FILTERS }, (_, bits) => [
    digest(project, bits & 1 ? commit_hash : null, bits & 2 ? branch : null, bits & 4 ? node_total : null),
    number,
  ]);
}

/** Adds a new build to the index, within a write transaction. */
export function addToIndex(tables: Index, project: number, build: BuildKey, number: number): void {
  for (const key of indexKeys(project, build, number)) {
    void tables.buildIndex.put(key, true);
    void putCount(tables, key[0], (tables.buildCounts.get(key[0]) ?? 0) + 1);
  }
}

/** Removes a build from the index, within a write transaction. Returns how many records that changes. */
export function removeFromIndex(tables: Index, project: number, build: BuildKey, number: number): number {
  const keys = indexKeys(project, build, number);
  for (const key of keys) {
    void tables.buildIndex.remove(key);
    void putCount(tables, key[0], (tables.buildCounts.get(key[0]) ?? 1) - 1);
  }
  return 2 * keys.length;
}

/** Resolves when the count is on disk. */
export function putCount({ buildCounts }: Pick<Index, 'buildCounts'>, filter: string, count: number): Promise<boolean> {
  return count > 0 ? buildCounts.put(filter, count) : buildCounts.remove(filter);
}

/** Returns how many builds the filter finds. */
export function buildCount({ buildCounts }: Index, project: number, filter: BuildFilter): number {
  return buildCounts.get(filterKey(project, filter)) ?? 0;
}

/** Counts the keys of a filter, in time that grows with their number. */
export function countKeys({ buildIndex }: Pick<Index, 'buildIndex'>, filter: string): number {
  return buildIndex.getKeysCount({ start: [filter, 0], end: [filter, Infinity] });
}

/** Returns the numbers of builds that the filter finds, newest first. */
export function numbersOf(
  { buildIndex, buildCounts }: Index,
  project: number,
  filter: BuildFilter,
  { before, offset = 0, limit }: ListPart,
): number[] {
  const key = filterKey(project, filter);
  const read = (range: object) => Array.from(buildIndex.getKeys(range), ([, number]) => number as number);
  const fromStart = () => read({ start: [key, (before ?? Infinity) - 1], end: [key, 0], reverse: true, offset, limit });
  if (before != null || offset === 0) return fromStart();
  // LMDB steps over what is skipped, so a page in the older half is read from the end.
  const older = (buildCounts.get(key) ?? 0) - offset;
  if (older > offset) return fromStart();
  if (older <= 0) return [];
  return read({ start: [key, 0], end: [key, Infinity], offset: Math.max(0, older - limit), limit: Math.min(older, limit) }).reverse();
}
