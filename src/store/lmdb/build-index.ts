import type { BuildKey } from '../../api/messages/build-key.js';
import { digest } from '../../engine/digest.js';
import { limits } from '../../limits.js';
import type { Parts } from './open.js';
import type { BuildCountRecord, BuildRecord } from './records.js';

/**
 * Under each filter that finds it a build has a number, one more than the one before. So a page of many is found
 * without counting to it: builds go nearly always from the old end, and of those that went before their elders
 * `buildGaps` keeps count, by blocks of numbers.
 */

/** What narrows a list of builds; what is absent does not. */
export interface BuildFilter {
  commit_hash?: string;
  branch?: string;
  node_total?: number;
}

/** `buildGaps` counts by blocks of so many places. */
export const PLACES_PER_BLOCK = 1000;
const NONE: BuildCountRecord = [0, 0];

function filterKey(project: number, filter: BuildFilter): string {
  return digest(project, filter.commit_hash ?? null, filter.branch ?? null, filter.node_total ?? null);
}

/** The eight filters that find a build. */
export function filterKeys(project: number, { commit_hash, branch, node_total }: BuildKey): string[] {
  return Array.from({ length: 8 }, (_, bits) =>
    digest(project, bits & 1 ? commit_hash : null, bits & 2 ? branch : null, bits & 4 ? node_total : null),
  );
}

/** Within a write transaction: makes a build found under its filters. Returns its place under each. */
export function indexBuild(store: Parts, project: number, key: BuildKey, number: number): number[] {
  return filterKeys(project, key).map(filter => {
    const [count, place] = store.buildCounts.get(filter) ?? NONE;
    void store.buildIndex.put([filter, place], number);
    void store.buildCounts.put(filter, [count + 1, place + 1]);
    return place;
  });
}

/** Within a write transaction: the opposite. Returns how many records it changed. */
export function unindexBuild(store: Parts, { project, places, ...key }: BuildRecord): number {
  let changed = 0;
  for (const [i, filter] of filterKeys(project, key).entries()) {
    const place = places[i]!;
    const [count, next] = store.buildCounts.get(filter)!;
    void store.buildIndex.remove([filter, place]);
    if (count > 1) {
      const gap: [string, number] = [filter, Math.floor(place / PLACES_PER_BLOCK)];
      void store.buildCounts.put(filter, [count - 1, next]);
      void store.buildGaps.put(gap, (store.buildGaps.get(gap) ?? 0) + 1);
      changed += 3;
    } else {
      void store.buildCounts.remove(filter);
      const gaps = [...store.buildGaps.getKeys({ start: [filter, -1], end: [filter, Infinity] })];
      for (const gap of gaps) void store.buildGaps.remove(gap);
      changed += 2 + gaps.length;
    }
  }
  return changed;
}

/** How many builds the filter finds. */
export function buildCount(store: Parts, project: number, filter: BuildFilter): number {
  return (store.buildCounts.get(filterKey(project, filter)) ?? NONE)[0];
}

/** The numbers of one page (from 1) of the builds, newest first, and how many there are. */
export function pageOfBuilds(store: Parts, project: number, filter: BuildFilter, page: number): { total: number; numbers: number[] } {
  const key = filterKey(project, filter);
  const [total, next] = store.buildCounts.get(key) ?? NONE;
  const before = (page - 1) * limits.buildsPerPage;
  if (before >= total) return { total, numbers: [] };
  const { from, offset } = placeAfter(store, key, next, before);
  return { total, numbers: numbersFrom(store, key, from, offset, limits.buildsPerPage) };
}

/** The newest that the filter finds, null when it finds none. */
export function newestNumber(store: Parts, project: number, filter: BuildFilter): number | null {
  return numbersFrom(store, filterKey(project, filter), Infinity, 0, 1)[0] ?? null;
}

/** Where to look for the build that so many newer ones are before: so many behind this place. */
function placeAfter(store: Parts, filter: string, next: number, before: number): { from: number; offset: number } {
  let place = next - 1 - before;
  const newestFirst = { start: [filter, Infinity], end: [filter, -1], reverse: true } as const;
  for (const { key, value: gone } of store.buildGaps.getRange(newestFirst as object)) {
    const first = key[1] * PLACES_PER_BLOCK;
    if (place >= first + PLACES_PER_BLOCK) break;
    if (place >= first) {
      const from = Math.min(next, first + PLACES_PER_BLOCK) - 1;
      return { from, offset: from - place };
    }
    place -= gone;
  }
  return { from: place, offset: 0 };
}

function numbersFrom(store: Parts, filter: string, from: number, offset: number, limit: number): number[] {
  const range = { start: [filter, from], end: [filter, -1], reverse: true, offset, limit };
  return [...store.buildIndex.getRange(range as object)].map(({ value }) => value);
}
