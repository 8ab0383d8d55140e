import { randomUUID } from 'node:crypto';
import type { NodeKey } from '../../engine/build-key.js';
import { defaultBranchAfter } from '../../engine/default-branch.js';
import { buildDigest } from '../../engine/keys.js';
import type { NewRun, Recorded, Recordings } from '../../engine/ports/recordings.js';
import type { Millis } from '../../engine/ports/store.js';
import { type LastRun, outcomeOf } from '../../engine/recordings.js';
import { type Segments, segment } from '../../engine/segments.js';
import { limits } from '../../limits.js';
import { buildCount, indexBuild, unindexBuild } from './build-index.js';
import { runsOfNode, runsRecorded } from './builds.js';
import { areSameRuns, encodeSubset, setOrdinal, subsetCount, subsetHead } from './codecs/subset-codec.js';
import type { Parts } from './parts.js';
import type { BuildRecord, RunKey } from './records.js';
import type { Tables } from './tables.js';
import { applyTimes, kindOf, type PendingRun } from './writes/apply-times.js';
import { commit, written } from './writes/commit.js';

export function lmdbRecordings(parts: Parts) {
  return { record: (project, key, run, isRetry, at) => record(parts, project, key, run, isRetry, at) } satisfies Recordings;
}

async function record(parts: Parts, project: number, key: NodeKey, run: NewRun, isRetry: boolean, at: Millis): Promise<Recorded> {
  const { diskSpace, timingBuffer } = parts;
  diskSpace.assert();
  await timingBuffer.makeRoom();
  const paths = new Uint32Array(run.seconds.length);
  for (let i = 0; i < paths.length; i++) {
    if (i > 0 && i % limits.timingsPerTurn === 0) await timingBuffer.nextTurn();
    paths[i] = timingBuffer.intern(project, pathOf(run, i), at);
  }
  const named = timingBuffer.saveNames();
  if (named) await written(named);
  const bytes = encodeSubset({ id: randomUUID(), created_at: at, ciRun: run.ci_run, paths, seconds: run.seconds });
  const put = await commit(parts, () => putSubset(parts, project, key, bytes, run.hasTestCases, isRetry, at));
  if (typeof put === 'string') return put;
  await applyTimes(parts, paths, run.seconds, put);
  return 'recorded';
}

/** Within a write transaction. */
function putSubset(
  tables: Parts,
  project: number,
  key: NodeKey,
  bytes: Buffer,
  hasTestCases: boolean,
  isRetry: boolean,
  at: Millis,
): PendingRun | Exclude<Recorded, 'recorded'> {
  const digest = buildDigest(project, key);
  const known = tables.buildNumbers.get(digest);
  const existing = known === undefined ? null : tables.builds.get(known)!;
  const last = existing && mayHaveRun(tables, known!, existing, key.node_index, at) ? lastRun(tables, known!, key.node_index) : null;
  const outcome = outcomeOf(last && toLastRun(tables, known!, key.node_index, last, bytes, isRetry), isRetry, at);
  if (outcome !== 'recorded') return outcome;

  const number = known ?? tables.meta.get('nextBuild') ?? 1;
  // Changed in place: it was just read or created, and nothing else refers to it.
  const build = existing ?? createBuild(tables, project, key, digest, number, at);
  build.updated_at = Math.max(at, build.updated_at);
  build.recorded = runsRecorded(build) + 1;
  setOrdinal(bytes, build.recorded);
  build.subsets += 1;
  build.test_files += subsetCount(bytes);
  void tables.builds.put(number, build);
  const runKey: RunKey = [number, key.node_index, (last?.run ?? 0) + 1];
  void tables.subsets.put(runKey, bytes);
  void tables.expiry.put([at, 'subset', ...runKey], true);
  const entry = tables.timingBuffer.nextEntry();
  void tables.pendingRuns.put(entry, runKey);
  if (hasTestCases) noteTestCases(tables, project);
  return { project, branch: key.branch, build: build.id, began: build.created_at, at, run: kindOf(runKey), entry };
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

/** The last run of a node, counted from 1. */
function lastRun({ subsets }: Pick<Tables, 'subsets'>, number: number, node_index: number): { run: number; bytes: Buffer } | null {
  const newestFirst = { start: [number, node_index, Infinity], end: [number, node_index, 0], reverse: true, limit: 1 };
  for (const { key, value } of subsets.getRange(newestFirst as object)) return { run: key[2], bytes: value };
  return null;
}

/** Within a write transaction. */
function createBuild(tables: Tables, project: number, key: NodeKey, digest: string, number: number, at: Millis): BuildRecord {
  const { commit_hash, branch, node_total } = key;
  const before = tables.builds.get(number - 1);
  const id = before?.created_at === at ? uuidBelow(before.id) : randomUUID();
  void tables.meta.put('nextBuild', number + 1);
  void tables.buildNumbers.put(digest, number);
  void tables.buildNumbers.put(id, number);
  const places = indexBuild(tables, project, { commit_hash, branch, node_total }, number);
  chooseDefaultBranch(tables, project, branch);
  const times = { created_at: at, updated_at: at };
  return {
    v: 1,
    id,
    project,
    commit_hash,
    branch,
    node_total,
    ...times,
    recorded: tables.meta.get('lastOrdinal') ?? 0,
    subsets: 0,
    test_files: 0,
    places,
  };
}

/** Whether a node may have a run. Nearly always it has none: it records for the first time, and runs of recent builds have not expired. */
function mayHaveRun(tables: Tables, number: number, { created_at }: BuildRecord, node_index: number, at: Millis): boolean {
  return at - created_at > limits.lastUseUpdateMilliseconds || tables.subsets.doesExist([number, node_index, 1]);
}

/** Returns a random id below a given one. Builds of the same millisecond are listed by id, later ones first. */
function uuidBelow(id: string): string {
  const head = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - 1 - Math.floor(Math.random() * 2 ** 24);
  const digits = Math.max(0, head).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}${randomUUID().slice(13)}`;
}

/** How many runs of a node are kept. The oldest ones are deleted first. */
function runsKept(tables: Pick<Tables, 'subsets'>, number: number, node_index: number, last: number): number {
  if (last < limits.runsPerNode) return last;
  const [first] = [...tables.subsets.getKeys({ ...runsOfNode(number, node_index), limit: 1 })];
  return last - first![2] + 1;
}

/** Chooses the default branch after a build was created, within a write transaction. */
function chooseDefaultBranch(tables: Tables, project: number, branch: string): void {
  const record = tables.projects.get(project);
  if (!record || record.default_branch === branch) return;
  const default_branch = defaultBranchAfter(record.default_branch, branch, name => buildCount(tables, project, { branch: name }));
  if (default_branch !== record.default_branch) void tables.projects.put(project, { ...record, default_branch });
}

/** Notes that a file of the project may be known by its test cases only. */
function noteTestCases(tables: Tables, project: number): void {
  const record = tables.projects.get(project);
  if (record && !record.has_test_cases) void tables.projects.put(project, { ...record, has_test_cases: true });
}

/** Deletes a run within a write transaction, and its build with the last one. Returns how many records it changed. */
export function deleteSubset(tables: Tables, key: RunKey): number {
  const bytes = tables.subsets.get(key);
  const build = tables.builds.get(key[0]);
  if (!bytes) return 0;
  void tables.subsets.remove(key);
  if (!build) return 1;
  if (build.subsets > 1) {
    const left = { recorded: runsRecorded(build), subsets: build.subsets - 1, test_files: build.test_files - subsetCount(bytes) };
    void tables.builds.put(key[0], { ...build, ...left });
    return 2 + (bytes.length >> 12);
  }
  void tables.builds.remove(key[0]);
  void tables.summaries.remove(key[0]);
  // If the build is created again, its runs count as later than all runs of this one.
  void tables.meta.put('lastOrdinal', Math.max(runsRecorded(build), tables.meta.get('lastOrdinal') ?? 0));
  void tables.buildNumbers.remove(buildDigest(build.project, build));
  void tables.buildNumbers.remove(build.id);
  return 5 + (bytes.length >> 12) + unindexBuild(tables, build);
}

function pathOf({ paths }: NewRun, i: number): string {
  return Array.isArray(paths) ? (paths as readonly string[])[i]! : segment(paths as Segments, i).toString();
}
