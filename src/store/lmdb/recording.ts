import { randomUUID } from 'node:crypto';
import type { NodeKey } from '../../api/messages/build-key.js';
import type { RecordedTestFile } from '../../api/messages/test-file.js';
import { type Segments, segment } from '../../engine/segments.js';
import { limits } from '../../limits.js';
import { fileOf } from '../../planning/estimating/test-case.js';
import { indexBuild, unindexBuild } from './build-index.js';
import { buildIdKey, lastRun, runsRecorded } from './builds.js';
import { commit, written } from './commit.js';
import { noteBuild } from './default-branch.js';
import { shortDigest } from './digest.js';
import type { Store } from './open.js';
import type { BuildRecord, Millis, RunKey } from './records.js';
import { areSameRuns, encodeSubset, setOrdinal, subsetCount, subsetHead } from './subset-codec.js';
import { kindOf, type Learnable, learn } from './timings.js';

export type Recorded = 'recorded' | 'known' | 'retried too often';

/** What a node ran: its test files, and what each took in seconds; 0: it was scheduled, not measured. */
export interface RecordedRun {
  /** As segments where they come from another thread. */
  paths: readonly string[] | Segments;
  seconds: Float64Array;
  hasTestCases: boolean;
  /** See subset-codec.ts. */
  ciRun: number;
}

export function toRecordedRun(testFiles: readonly RecordedTestFile[], ci_build_id?: string): RecordedRun {
  const paths: string[] = [];
  const seconds = new Float64Array(testFiles.length);
  let hasTestCases = false;
  for (const { path, time_execution } of testFiles) {
    seconds[paths.length] = time_execution;
    paths.push(path);
    hasTestCases ||= time_execution > 0 && fileOf(path) !== null;
  }
  return { paths, seconds, hasTestCases, ciRun: ci_build_id === undefined ? 0 : shortDigest(ci_build_id) };
}

/**
 * Records one run of one node; creates its build at the first one. When it resolves the run is on disk, and what it
 * measured counts.
 * @param isRetry the client sent this request before: what the node recorded last and lately, word for word, is `known`
 */
export async function recordSubset(
  store: Store,
  project: number,
  key: NodeKey,
  run: RecordedRun,
  isRetry: boolean,
  now: Millis,
): Promise<Recorded> {
  const { recent } = store;
  store.room.assert();
  await recent.makeRoom();
  const paths = new Uint32Array(run.seconds.length);
  for (let i = 0; i < paths.length; i++) {
    if (i > 0 && i % limits.timingsPerTurn === 0) await recent.nextTurn();
    paths[i] = recent.see(project, pathOf(run, i), now);
  }
  const named = recent.name();
  if (named) await written(named);
  const bytes = encodeSubset({ id: randomUUID(), created_at: now, ciRun: run.ciRun, paths, seconds: run.seconds });
  const put = await commit(store, () => putSubset(store, project, key, bytes, run.hasTestCases, isRetry, now));
  if (typeof put === 'string') return put;
  await learn(store, paths, run.seconds, put);
  return 'recorded';
}

function putSubset(
  store: Store,
  project: number,
  key: NodeKey,
  bytes: Buffer,
  hasTestCases: boolean,
  isRetry: boolean,
  now: Millis,
): Learnable | Exclude<Recorded, 'recorded'> {
  const idKey = buildIdKey(project, key);
  const known = store.buildNumbers.get(idKey);
  const build = known === undefined ? null : store.builds.get(known)!;
  const last = build && mayHaveRun(store, known!, build, key.node_index, now) ? lastRun(store, known!, key.node_index) : null;
  if (isRetry && last && isRecent(last.bytes, now) && areSameRuns(last.bytes, bytes)) return 'known';
  if (last && runsKept(store, known!, key.node_index, last.run) >= limits.runsPerNode) return 'retried too often';

  const number = known ?? store.meta.get('nextBuild') ?? 1;
  const of = build ?? makeBuild(store, project, key, idKey, number, now);
  // Just read or made, and of nobody else.
  of.updated_at = Math.max(now, of.updated_at);
  of.recorded = runsRecorded(of) + 1;
  setOrdinal(bytes, of.recorded);
  of.subsets += 1;
  of.test_files += subsetCount(bytes);
  void store.builds.put(number, of);
  const runKey: RunKey = [number, key.node_index, (last?.run ?? 0) + 1];
  void store.subsets.put(runKey, bytes);
  void store.expiry.put([now, 'subset', ...runKey], true);
  const entry = store.recent.nextEntry();
  void store.unlearnt.put(entry, runKey);
  if (hasTestCases) noteTestCases(store, project);
  return { project, branch: key.branch, build: of.id, began: of.created_at, at: now, run: kindOf(runKey), entry };
}

/** No client tries for so long: what comes later is another run, however alike. */
function isRecent(bytes: Buffer, now: Millis): boolean {
  return now - subsetHead(bytes).created_at < limits.retryWindowMilliseconds;
}

function makeBuild(store: Store, project: number, key: NodeKey, idKey: string, number: number, now: Millis): BuildRecord {
  const { commit_hash, branch, node_total } = key;
  const before = store.builds.get(number - 1);
  const id = before?.created_at === now ? uuidBelow(before.id) : randomUUID();
  void store.meta.put('nextBuild', number + 1);
  void store.buildNumbers.put(idKey, number);
  void store.buildNumbers.put(id, number);
  const places = indexBuild(store, project, { commit_hash, branch, node_total }, number);
  noteBuild(store, project, branch);
  const times = { created_at: now, updated_at: now };
  return {
    v: 1,
    id,
    project,
    commit_hash,
    branch,
    node_total,
    ...times,
    recorded: store.meta.get('lastOrdinal') ?? 0,
    subsets: 0,
    test_files: 0,
    places,
  };
}

/** Nearly always a node records for the first time; and nothing of a build that is not old has expired. */
function mayHaveRun(store: Store, number: number, { created_at }: BuildRecord, node_index: number, now: Millis): boolean {
  return now - created_at > limits.lastUseUpdateMilliseconds || store.subsets.doesExist([number, node_index, 1]);
}

/** Builds of the same instant are listed by id, and the later ones first: a random id before the one given. */
function uuidBelow(id: string): string {
  const head = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - 1 - Math.floor(Math.random() * 2 ** 24);
  const digits = Math.max(0, head).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}${randomUUID().slice(13)}`;
}

/** The oldest go first. */
function runsKept(store: Store, number: number, node_index: number, last: number): number {
  if (last < limits.runsPerNode) return last;
  const range = { start: [number, node_index, 0], end: [number, node_index, Infinity], limit: 1 };
  const [first] = [...store.subsets.getKeys(range as object)];
  return last - first![2] + 1;
}

/** A file that was never recorded itself is then looked for among test cases. */
function noteTestCases(store: Store, project: number): void {
  const record = store.projects.get(project);
  if (record && !record.has_test_cases) void store.projects.put(project, { ...record, has_test_cases: true });
}

/** Within a write transaction: deletes a subset, and its build with the last one. Returns how many records it changed. */
export function deleteSubset(store: Store, key: RunKey): number {
  const bytes = store.subsets.get(key);
  const build = store.builds.get(key[0]);
  if (!bytes) return 0;
  void store.subsets.remove(key);
  if (!build) return 1;
  if (build.subsets > 1) {
    const left = { recorded: runsRecorded(build), subsets: build.subsets - 1, test_files: build.test_files - subsetCount(bytes) };
    void store.builds.put(key[0], { ...build, ...left });
    return 2 + (bytes.length >> 12);
  }
  void store.builds.remove(key[0]);
  // Should the build come again, what is recorded then is later than all that was kept of it.
  void store.meta.put('lastOrdinal', Math.max(runsRecorded(build), store.meta.get('lastOrdinal') ?? 0));
  void store.buildNumbers.remove(buildIdKey(build.project, build));
  void store.buildNumbers.remove(build.id);
  return 4 + (bytes.length >> 12) + unindexBuild(store, build);
}

function pathOf({ paths }: RecordedRun, i: number): string {
  return Array.isArray(paths) ? (paths as readonly string[])[i]! : segment(paths as Segments, i).toString();
}
