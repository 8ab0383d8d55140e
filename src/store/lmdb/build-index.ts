import { type BuildFilter, type BuildKey, digest } from '../../engine/keys.js';
import type { Tables } from './tables.js';

/** Each build is in `buildIndex` under each filter that finds it. Builds that were created later have greater numbers. */

type Index = Pick<Tables, 'buildIndex'>;

function filterKey(project: number, { commit_hash, branch, node_total }: BuildFilter): string {
  return digest(project, commit_hash ?? null, branch ?? null, node_total ?? null);
}

/** How many filters find a build. */
const FILTERS = 8;

/** The keys of a build in `buildIndex`. */
export function indexKeys(project: number, { commit_hash, branch, node_total }: BuildKey, number: number): [string, number][] {
  return Array.from({ length: FILTERS }, (_, bits) => [
    digest(project, bits & 1 ? commit_hash : null, bits & 2 ? branch : null, bits & 4 ? node_total : null),
    number,
  ]);
}

/** Returns how many builds the filter finds. */
export function buildCount({ buildIndex }: Index, project: number, filter: BuildFilter): number {
  const key = filterKey(project, filter);
  return buildIndex.getKeysCount({ start: [key, 0], end: [key, Infinity] });
}

export interface IndexPage {
  /** Only builds with lower numbers; missing: all. */
  before?: number;
  /** How many of these to skip. */
  offset?: number;
  limit: number;
}

/** Returns the numbers of builds that the filter finds, newest first. */
export function numbersOf(
  { buildIndex }: Index,
  project: number,
  filter: BuildFilter,
  { before = Infinity, offset = 0, limit }: IndexPage,
): number[] {
  const key = filterKey(project, filter);
  const range = { start: [key, before - 1], end: [key, 0], reverse: true, offset, limit } as const;
  return Array.from(buildIndex.getKeys(range as object), ([, number]) => number as number);
}
