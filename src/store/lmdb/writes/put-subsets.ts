import type { NodeKey } from '../../../engine/keys.js';
import type { Recorded } from '../../../engine/ports/recordings.js';
import type { Millis } from '../../../engine/ports/store.js';
import { defaultBranchAfter, type LastRun, newBuild, outcomeOf, withRun } from '../../../engine/recordings.js';
import { limits } from '../../../limits.js';
import { type BuildCounts, buildCount, indexBuild } from '../build-index.js';
import { runsOfNode } from '../builds.js';
import { areSameRuns, setOrdinal, subsetCount, subsetHead } from '../codecs/subset-codec.js';
import type { BuildCountRecord, BuildRecord, RunKey } from '../records.js';
import type { Tables } from '../tables.js';
import { kindOf, type PendingRun } from './apply-times.js';

/** A run of a node, as it is recorded. */
export interface NewSubset {
  project: number;
  key: NodeKey;
  /** Of its build, see buildDigest. */
  build: string;
  hasTestCases: boolean;
  isRetry: boolean;
  at: Millis;
  /** Its number in the order in which runs were sent. Numbers may be missing. */
  entry: number;
  /** See subset-codec.ts; without its ordinal. */
  bytes: Buffer;
}

/** A run that was put, or why it was not. */
export type PutSubset = PendingRun | Exclude<Recorded, 'recorded'>;

/**
 * Records runs within one write transaction. Many of them are of the same builds, which are read and put once. `pendingRuns` has them under
 * the entry of the last.
 */
export function putSubsets(tables: Tables, subsets: readonly NewSubset[]): PutSubset[] {
  const group = new Group(tables);
  const put = subsets.map(subset => group.put(subset));
  group.end(subsets.at(-1)!.entry);
  return put;
}

interface KnownBuild {
  number: number;
  record: BuildRecord;
}

class Group {
  readonly #builds = new Map<string, KnownBuild>();
  readonly #changed = new Set<KnownBuild>();
  readonly #counts = new Map<string, BuildCountRecord>();
  readonly #recorded: RunKey[] = [];
  readonly #buildCounts: BuildCounts;
  /** The last build that was created. */
  #last: KnownBuild | null = null;

  constructor(readonly tables: Tables) {
    const { buildCounts } = tables;
    this.#buildCounts = {
      get: filter => this.#counts.get(filter) ?? buildCounts.get(filter),
      put: (filter, count) => this.#counts.set(filter, count),
    };
  }

  put({ project, key, build: digest, bytes, hasTestCases, isRetry, at }: NewSubset): PutSubset {
    const { tables } = this;
    const existing = this.#find(digest);
    const last = existing && lastRun(tables, existing, key.node_index, at);
    const outcome = outcomeOf(last && toLastRun(tables, existing!.number, key.node_index, last, bytes, isRetry), isRetry, at);
    if (outcome !== 'recorded') return outcome;

    const build = existing ?? this.#create(project, key, digest, at);
    const { number, record } = build;
    Object.assign(record, withRun(record, subsetCount(bytes), at));
    setOrdinal(bytes, record.recorded);
    this.#changed.add(build);
    const runKey: RunKey = [number, key.node_index, (last?.run ?? 0) + 1];
    void tables.subsets.put(runKey, bytes);
    this.#recorded.push(runKey);
    if (hasTestCases) noteTestCases(tables, project);
    return { project, branch: key.branch, build: record.id, began: record.created_at, at, run: kindOf(runKey) };
  }

  /** Puts what several runs of the group may have changed. */
  end(entry: number): void {
    const { builds, buildCounts, meta, pendingRuns } = this.tables;
    if (this.#recorded.length > 0) void pendingRuns.put(entry, this.#recorded);
    for (const { number, record } of this.#changed) void builds.put(number, record);
    for (const [filter, count] of this.#counts) void buildCounts.put(filter, count);
    if (this.#last) void meta.put('nextBuild', this.#last.number + 1);
  }

  #find(digest: string): KnownBuild | null {
    const known = this.#builds.get(digest);
    if (known) return known;
    const number = this.tables.buildNumbers.get(digest);
    if (number === undefined) return null;
    const build = { number, record: this.tables.builds.get(number)! };
    this.#builds.set(digest, build);
    return build;
  }

  #create(project: number, key: NodeKey, digest: string, at: Millis): KnownBuild {
    const { tables } = this;
    const number = this.#last ? this.#last.number + 1 : (tables.meta.get('nextBuild') ?? 1);
    const before = this.#last?.record ?? tables.builds.get(number - 1);
    const created = newBuild(project, key, before, tables.meta.get('lastOrdinal') ?? 0, at);
    const index = { buildIndex: tables.buildIndex, buildCounts: this.#buildCounts };
    const record: BuildRecord = { v: 1, ...created, places: indexBuild(index, project, created, number) };
    void tables.buildNumbers.put(digest, number);
    void tables.buildNumbers.put(record.id, number);
    void tables.expiry.put([at, 'build', number], true);
    this.#chooseDefaultBranch(project, key.branch);
    const build = { number, record };
    this.#builds.set(digest, build);
    this.#last = build;
    return build;
  }

  /** Chooses the default branch after a build was created. */
  #chooseDefaultBranch(project: number, branch: string): void {
    const { projects } = this.tables;
    const record = projects.get(project);
    if (!record) return;
    const buildsOf = (name: string) => buildCount({ buildCounts: this.#buildCounts }, project, { branch: name });
    const default_branch = defaultBranchAfter(record, branch, buildsOf);
    if (default_branch !== record.default_branch) void projects.put(project, { ...record, default_branch });
  }
}

/** The last run of a node, counted from 1; null: it has none. */
function lastRun(
  { subsets }: Pick<Tables, 'subsets'>,
  { number, record }: KnownBuild,
  node_index: number,
  at: Millis,
): { run: number; bytes: Buffer } | null {
  if (!mayHaveRun(subsets, number, record.created_at, node_index, at)) return null;
  const newestFirst = { start: [number, node_index, Infinity], end: [number, node_index, 0], reverse: true, limit: 1 };
  for (const { key, value } of subsets.getRange(newestFirst as object)) return { run: key[2], bytes: value };
  return null;
}

/**
 * Whether a node may have a run. Nearly always it has none: it records for the first time, and runs of recent builds have not expired.
 *
 * @param number that of its build; null: the tables do not have it
 * @param created_at that of its build
 */
export function mayHaveRun(subsets: Tables['subsets'], number: number | null, created_at: Millis, node_index: number, at: Millis): boolean {
  return at - created_at > limits.lastUseUpdateMilliseconds || (number !== null && subsets.doesExist([number, node_index, 1]));
}

function toLastRun(
  tables: Pick<Tables, 'subsets'>,
  number: number,
  node_index: number,
  { run, bytes }: { run: number; bytes: Buffer },
  next: Buffer,
  isRetry: boolean,
): LastRun {
  const isSame = isRetry && areSameRuns(bytes, next);
  return { created_at: subsetHead(bytes).created_at, isSame, kept: runsKept(tables, number, node_index, run) };
}

/** How many runs of a node are kept. The oldest ones are deleted first. */
function runsKept(tables: Pick<Tables, 'subsets'>, number: number, node_index: number, last: number): number {
  if (last < limits.runsPerNode) return last;
  const [first] = [...tables.subsets.getKeys({ ...runsOfNode(number, node_index), limit: 1 })];
  return last - first![2] + 1;
}

/** Notes that a file of the project may be known by its test cases only. */
function noteTestCases(tables: Tables, project: number): void {
  const record = tables.projects.get(project);
  if (record && !record.has_test_cases) void tables.projects.put(project, { ...record, has_test_cases: true });
}
