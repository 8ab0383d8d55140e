import { filterKeys, indexBuild, PLACES_PER_BLOCK } from '../build-index.js';
import type { Tables } from '../tables.js';
import { type Committing, commit } from '../writes/commit.js';
import type { Problem, Seen } from './problem.js';

/** The contents of the index under one filter. */
interface Found {
  filter: string;
  count: number;
  /** The last place. */
  last: number;
  /** How many builds are in each block of places. */
  blocks: Map<number, number>;
}

/** Problems of the lists of builds. All share one repair, which rewrites the lists. */
export function* problemsOfBuildIndex(tables: Tables & Committing, seen: Seen): Generator<Problem> {
  const repair = () => writeIndex(tables);
  for (const { key: number, value: build } of tables.builds.getRange()) {
    for (const [i, filter] of filterKeys(build.project, build).entries()) {
      const key: [string, number] = [filter, build.places[i]!];
      const first = key[1] === 0 ? tables.buildCounts.get(filter)?.[2] : undefined;
      if ((first ?? tables.buildIndex.get(key)) === number) continue;
      yield { table: 'buildIndex', key, what: `does not lead to build ${number}`, repair };
    }
  }
  let found = null as Found | null;
  for (const {
    key: [filter, place],
    value: number,
  } of tables.buildIndex.getRange()) {
    seen('buildIndex');
    if (found?.filter !== filter) {
      if (found) yield* problemsOfFilter(tables, found, repair);
      found = { filter, count: 0, last: 0, blocks: new Map() };
    }
    found.count += 1;
    found.last = place;
    const block = Math.floor(place / PLACES_PER_BLOCK);
    found.blocks.set(block, (found.blocks.get(block) ?? 0) + 1);
    if (!tables.builds.doesExist(number)) {
      yield { table: 'buildIndex', key: [filter, place], what: `leads to build ${number}, which does not exist`, repair };
    }
  }
  if (found) yield* problemsOfFilter(tables, found, repair);
  for (const {
    key: filter,
    value: [, , build],
  } of tables.buildCounts.getRange()) {
    if (build !== undefined) {
      if (tables.builds.doesExist(build)) continue;
      yield { table: 'buildCounts', key: filter, what: `has build ${build}, which does not exist`, repair };
      continue;
    }
    const [first] = [...tables.buildIndex.getKeys({ start: [filter, -1], end: [filter, Infinity], limit: 1 })];
    if (!first) yield { table: 'buildCounts', key: filter, what: 'counts builds, but none is listed', repair };
  }
}

function* problemsOfFilter(tables: Tables, { filter, count, last, blocks }: Found, repair: () => Promise<unknown>): Generator<Problem> {
  const [counted, next, first] = tables.buildCounts.get(filter) ?? [0, 0];
  if (counted !== count || next <= last || first !== undefined) {
    yield {
      table: 'buildCounts',
      key: filter,
      what: `counts ${counted} builds below place ${next}, but ${count} builds up to place ${last} are listed`,
      repair,
    };
    return;
  }
  for (let block = 0; block * PLACES_PER_BLOCK < next; block++) {
    const places = Math.min(PLACES_PER_BLOCK, next - block * PLACES_PER_BLOCK);
    const gone = places - (blocks.get(block) ?? 0);
    const noted = tables.buildGaps.get([filter, block]) ?? 0;
    if (gone !== noted)
      yield { table: 'buildGaps', key: [filter, block], what: `counts ${noted} deleted builds, but ${gone} are deleted`, repair };
  }
}

const BUILDS_PER_STEP = 200;

async function writeIndex(tables: Tables & Committing): Promise<void> {
  for (const table of [tables.buildIndex, tables.buildCounts, tables.buildGaps]) await table.clearAsync();
  for (let after = 0; ; ) {
    const some = [...tables.builds.getRange({ start: after + 1, limit: BUILDS_PER_STEP })];
    await commit(tables, () => {
      for (const { key: number, value: build } of some) {
        void tables.builds.put(number, { ...build, places: indexBuild(tables, build.project, build, number) });
      }
    });
    if (some.length < BUILDS_PER_STEP) return;
    after = some.at(-1)!.key;
  }
}
