import type { BuildKey, NodeKey } from '../../api/messages/build-key.js';
import { apiErrors } from '../../api-error.js';
import { digest } from '../../engine/digest.js';
import { isAfter, type Moment, type Recorded } from '../../engine/moment.js';
import { limits } from '../../limits.js';
import { type BuildFilter, newestNumber, pageOfBuilds } from './build-index.js';
import type { Parts } from './open.js';
import type { BuildRecord, Millis } from './records.js';
import { decodeSubset, subsetCount, subsetHead } from './subset-codec.js';

export interface Build extends BuildRecord {
  /** Its key in `builds`. */
  number: number;
}

/** A recorded run of a node. */
export interface Subset {
  id: string;
  node_index: number;
  created_at: Millis;
  test_files: { path: string; time_execution: number }[];
}

/** The key of a build in `builds`, null when there is none. */
export function buildNumber(store: Parts, project: number, key: BuildKey): number | null {
  return store.buildNumbers.get(buildIdKey(project, key)) ?? null;
}

export function buildIdKey(project: number, key: BuildKey): string {
  return digest(project, key.commit_hash, key.branch, key.node_total);
}

/** One page (from 1) of the builds, newest first, and the number of all. */
export function listBuilds(store: Parts, project: number, filter: BuildFilter, page: number): { total: number; builds: Build[] } {
  const { total, numbers } = pageOfBuilds(store, project, filter, page);
  return { total, builds: numbers.map(number => buildOf(store, number)) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function findBuild(store: Parts, project: number, id: string): Build | null {
  const known = id.toLowerCase();
  const number = UUID.test(known) ? store.buildNumbers.get(known) : undefined;
  const build = number === undefined ? null : buildOf(store, number);
  return build?.project === project ? build : null;
}

/**
 * The recorded build that most closely matches: the same triple; else the newest of the same branch and
 * node_total; of the same branch; of the project. Null when the project has none.
 */
export function closestBuild(store: Parts, project: number, key: BuildKey): Build | null {
  const { branch, node_total } = key;
  for (const filter of [key, { branch, node_total }, { branch }, {}]) {
    const build = newestBuild(store, project, filter);
    if (build) return build;
  }
  return null;
}

export function newestBuild(store: Parts, project: number, filter: BuildFilter): Build | null {
  const number = newestNumber(store, project, filter);
  return number === null ? null : buildOf(store, number);
}

/** The ordinal of the last run of a build. */
export function runsRecorded({ recorded, subsets }: BuildRecord): number {
  return recorded ?? subsets;
}

/** The same for a build that may not exist. @param build see buildIdKey */
export function runsRecordedOf(store: Parts, build: string): number {
  const number = store.buildNumbers.get(build);
  const record = number === undefined ? undefined : store.builds.get(number);
  return record ? runsRecorded(record) : 0;
}

/** A recorded run. */
export interface RunSince extends Recorded {
  node_index: number;
  /** See subset-codec.ts. */
  ciRun: number;
  paths: string[];
  seconds: Float64Array;
}

/** The runs of a build that were recorded after a moment (null: all), by node and in the order of recording. */
export function runsSince(store: Parts, project: number, key: BuildKey, since: Moment | null): RunSince[] {
  const number = buildNumber(store, project, key);
  if (number === null) return [];
  const nameOf = namesOf(store);
  const runs: RunSince[] = [];
  let files = 0;
  for (const {
    key: [, node_index],
    value,
  } of store.subsets.getRange(runsOf(number))) {
    const recorded = orderOf(value);
    if (since && !isAfter(recorded, since)) continue;
    files += subsetCount(value);
    if (files > limits.mergedTestFiles) throw apiErrors.buildTooLarge('recorded test files', limits.mergedTestFiles);
    const { paths, seconds } = decodeSubset(value);
    runs.push({ node_index, ciRun: subsetHead(value).ciRun, ...recorded, paths: Array.from(paths, nameOf), seconds });
  }
  return runs;
}

/** The paths that a node recorded since then, but never with a time. */
export function pathsWithoutTime(store: Parts, project: number, key: NodeKey, since: Moment): Set<string> {
  const number = buildNumber(store, project, key);
  const seen = new Map<number, boolean>();
  const own = { start: [number, key.node_index, 0], end: [number, key.node_index, Infinity] };
  for (const { value } of number === null ? [] : store.subsets.getRange(own as object)) {
    if (!isAfter(orderOf(value), since)) continue;
    const { paths, seconds } = decodeSubset(value);
    for (const [i, path] of paths.entries()) seen.set(path, seen.get(path) === true || seconds[i]! > 0);
  }
  return new Set([...seen].filter(([, hasTime]) => !hasTime).map(([path]) => nameOfPath(store, path)));
}

/** Whether as many runs of a node are kept as ever are. */
export function isFull(store: Parts, project: number, key: BuildKey, node_index: number): boolean {
  const number = buildNumber(store, project, key);
  return (
    number !== null &&
    store.subsets.getKeysCount({ start: [number, node_index, 0], end: [number, node_index, Infinity] }) >= limits.runsPerNode
  );
}

/** All recorded runs of a build, newest first. */
export function subsetsOf(store: Parts, build: Build): Subset[] {
  return [...eachSubset(store, build)].sort((a, b) => b.created_at - a.created_at);
}

/** All runs of a build, one at a time, by node and in the order of recording. */
export function* eachSubset(store: Parts, { number }: Build): Generator<Subset> {
  const nameOf = namesOf(store);
  for (const { key, value } of store.subsets.getRange(runsOf(number))) {
    const { id, created_at, paths, seconds } = decodeSubset(value);
    const test_files = Array.from(paths, (path, i) => ({ path: nameOf(path), time_execution: seconds[i]! }));
    yield { id, node_index: key[1], created_at, test_files };
  }
}

/** The range of a build's runs in `subsets`. */
export function runsOf(number: number): object {
  return { start: [number, -1], end: [number, Infinity] };
}

/** Returns the name of a path by its number, and looks each up once. Throws a 422 when the names are too many characters. */
function namesOf(store: Parts): (path: number) => string {
  const names = new Map<number, string>();
  let characters = 0;
  return path => {
    let name = names.get(path);
    if (name === undefined) {
      names.set(path, (name = nameOfPath(store, path)));
      characters += name.length;
      if (characters > limits.mergedCharacters) throw apiErrors.buildTooLarge('characters of paths', limits.mergedCharacters);
    }
    return name;
  };
}

export function nameOfPath(store: Parts, path: number): string {
  const name = store.pathNames.get(path);
  return name === undefined ? `(path ${path}, whose name is lost)` : (JSON.parse(name) as string);
}

/** The last run of a node that was recorded after a moment; null: there is none. */
export function lastSubsetId(store: Parts, project: number, key: NodeKey, since: Moment): string | null {
  const number = buildNumber(store, project, key);
  const last = number === null ? null : lastRun(store, number, key.node_index);
  if (!last) return null;
  return isAfter(orderOf(last.bytes), since) ? subsetHead(last.bytes).id : null;
}

function orderOf(bytes: Buffer): Recorded {
  const { ordinal, created_at: at } = subsetHead(bytes);
  return { ordinal, at };
}

/** The last run of a node that is recorded, counted from 1. */
export function lastRun(store: Parts, number: number, node_index: number): { run: number; bytes: Buffer } | null {
  const newestFirst = { start: [number, node_index, Infinity], end: [number, node_index, 0], reverse: true, limit: 1 };
  for (const { key, value } of store.subsets.getRange(newestFirst as object)) return { run: key[2], bytes: value };
  return null;
}

function buildOf(store: Parts, number: number): Build {
  return { ...store.builds.get(number)!, number };
}
