import { digest } from '../../engine/digest.js';
import type { BuildFilter, BuildKey } from '../../engine/keys.js';
import type { BuildCountRecord, BuildRecord } from './records.js';
import type { Tables } from './tables.js';

/**
 * Each build has a place under each filter that finds it: the place of the previous build, plus one. The places of a page are computed
 * without counting builds, because the oldest builds are nearly always deleted first. `buildGaps` counts the other deleted builds by
 * blocks of places.
 *
 * Most filters that name a commit find one build ever, so `buildCounts` has the first build of a filter until there is a second one. The
 * filter that names all of a build is its digest, which `buildNumbers` has.
 */

type IndexTables = Pick<Tables, 'buildIndex' | 'buildCounts' | 'buildGaps' | 'buildNumbers'>;

/** `buildCounts`, or what a transaction keeps of it. */
export interface BuildCounts {
  get(filter: string): BuildCountRecord | undefined;
  put(filter: string, count: BuildCountRecord): unknown;
}

/** The size of a block. */
export const PLACES_PER_BLOCK = 1000;
const NONE: BuildCountRecord = [0, 0];

function filterKey(project: number, filter: BuildFilter): string {
  return digest(project, filter.commit_hash ?? null, filter.branch ?? null, filter.node_total ?? null);
}

/** How many filters find a build and maybe others. */
const FILTERS = 7;

/** The keys of these filters. */
export function filterKeys(project: number, { commit_hash, branch, node_total }: BuildKey): string[] {
  return Array.from({ length: FILTERS }, (_, bits) =>
    digest(project, bits & 1 ? commit_hash : null, bits & 2 ? branch : null, bits & 4 ? node_total : null),
  );
}

/** Puts a build under its filters, within a write transaction. Returns its place under each. */
export function indexBuild(
  { buildIndex, buildCounts }: Pick<Tables, 'buildIndex'> & { buildCounts: BuildCounts },
  project: number,
  key: BuildKey,
  number: number,
): number[] {
  return filterKeys(project, key).map(filter => {
    const [count, place, first] = buildCounts.get(filter) ?? NONE;
    if (first !== undefined) void buildIndex.put([filter, 0], first);
    if (place > 0) void buildIndex.put([filter, place], number);
    void buildCounts.put(filter, place > 0 ? [count + 1, place + 1] : [1, 1, number]);
    return place;
  });
}

/** Removes a build from its filters, within a write transaction. Returns how many records it changed. */
export function unindexBuild(tables: IndexTables, { project, places, ...key }: BuildRecord): number {
  let changed = 0;
  for (const [i, filter] of filterKeys(project, key).entries()) {
    const place = places[i]!;
    const [count, next, first] = tables.buildCounts.get(filter)!;
    if (first === undefined) void tables.buildIndex.remove([filter, place]);
    if (count > 1) {
      const gap: [string, number] = [filter, Math.floor(place / PLACES_PER_BLOCK)];
      void tables.buildCounts.put(filter, [count - 1, next]);
      void tables.buildGaps.put(gap, (tables.buildGaps.get(gap) ?? 0) + 1);
      changed += 3;
    } else {
      void tables.buildCounts.remove(filter);
      const gaps = [...tables.buildGaps.getKeys({ start: [filter, -1], end: [filter, Infinity] })];
      for (const gap of gaps) void tables.buildGaps.remove(gap);
      changed += 2 + gaps.length;
    }
  }
  return changed;
}

/** Returns what `buildCounts` has of a filter, or would have of one that names all of a build. */
function countOf({ buildCounts, buildNumbers }: IndexTables, key: string, filter: BuildFilter): BuildCountRecord {
  const isWhole = filter.commit_hash !== undefined && filter.branch !== undefined && filter.node_total !== undefined;
  if (!isWhole) return buildCounts.get(key) ?? NONE;
  const number = buildNumbers.get(key);
  return number === undefined ? NONE : [1, 1, number];
}

/** Returns how many builds the filter finds. */
export function buildCount({ buildCounts }: { buildCounts: BuildCounts }, project: number, filter: BuildFilter): number {
  return (buildCounts.get(filterKey(project, filter)) ?? NONE)[0];
}

/** Returns the numbers of the builds on one page (from 1), newest first, and how many builds the filter finds. */
export function pageOfBuilds(
  tables: IndexTables,
  project: number,
  filter: BuildFilter,
  page: number,
  perPage: number,
): { total: number; numbers: number[] } {
  const key = filterKey(project, filter);
  const [total, next, first] = countOf(tables, key, filter);
  const before = (page - 1) * perPage;
  if (before >= total) return { total, numbers: [] };
  if (first !== undefined) return { total, numbers: [first] };
  const { from, offset } = placeAfter(tables, key, next, before);
  return { total, numbers: numbersFrom(tables, key, from, offset, perPage) };
}

/** Returns the numbers of up to `limit` builds, newest first, below the number `before` (null: all), and how many the filter finds. */
export function olderBuilds(
  tables: IndexTables,
  project: number,
  filter: BuildFilter,
  before: number | null,
  limit: number,
): { total: number; numbers: number[] } {
  const key = filterKey(project, filter);
  const [total, next, first] = countOf(tables, key, filter);
  if (first !== undefined) return { total, numbers: before === null || first < before ? [first] : [] };
  const from = before === null ? next : firstPlaceOf(tables, key, next, before) - 1;
  return { total, numbers: from < 0 ? [] : numbersFrom(tables, key, from, 0, limit) };
}

/** Returns the first place, at most `next`, from which on all builds have at least this number: numbers ascend with their places. */
function firstPlaceOf({ buildIndex }: IndexTables, filter: string, next: number, number: number): number {
  let [low, high] = [0, next];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [at] = [...buildIndex.getRange({ start: [filter, middle], end: [filter, Infinity], limit: 1 })];
    if (at && at.value < number) low = at.key[1] + 1;
    else high = middle;
  }
  return low;
}

/** Returns the number of the newest build that the filter finds; null: it finds none. */
export function newestNumber(tables: IndexTables, project: number, filter: BuildFilter): number | null {
  const key = filterKey(project, filter);
  const [, , first] = countOf(tables, key, filter);
  return first ?? numbersFrom(tables, key, Infinity, 0, 1)[0] ?? null;
}

/** Returns a place from which to read the build that has `before` newer ones, and how many builds to skip from there. */
function placeAfter(tables: IndexTables, filter: string, next: number, before: number): { from: number; offset: number } {
  let place = next - 1 - before;
  const newestFirst = { start: [filter, Infinity], end: [filter, -1], reverse: true } as const;
  for (const { key, value: deleted } of tables.buildGaps.getRange(newestFirst as object)) {
    const first = key[1] * PLACES_PER_BLOCK;
    if (place >= first + PLACES_PER_BLOCK) break;
    if (place >= first) {
      const from = Math.min(next, first + PLACES_PER_BLOCK) - 1;
      return { from, offset: from - place };
    }
    place -= deleted;
  }
  return { from: place, offset: 0 };
}

function numbersFrom(tables: IndexTables, filter: string, from: number, offset: number, limit: number): number[] {
  const range = { start: [filter, from], end: [filter, -1], reverse: true, offset, limit };
  return [...tables.buildIndex.getRange(range as object)].map(({ value }) => value);
}
