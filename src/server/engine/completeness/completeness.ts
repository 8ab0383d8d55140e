import { agree, pluralize } from '../../../base/plural.js';
import type { CompletenessAnswer, ProvedPart } from '../../../protocol/answers/completeness.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { fileOf } from '../../../protocol/test-case.js';
import type { Run } from '../ports/builds.js';
import type { Store } from '../ports/store.js';
import { isPublicSide } from '../public-side/side.js';
import type { Assigned, CompletenessSubject } from './assigned.js';
import { type AssignmentsByPath, type Comparison, compare } from './compare.js';
import { evidenceOf } from './evidence.js';
import { type LeftOutFiles, leftOutFiles } from './left-out-files.js';
import { mutedFailures, retriedFailures } from './outcomes.js';

/** A CI run, as the gate sees it. */
export interface Compared {
  /** Null: it has no known queue or split. */
  assigned: Assigned | null;
  /** See Evidence. */
  runs: readonly Run[];
  told: readonly Run[];
  nodesCame: readonly number[];
  /** The files that its queue left out; null: none. */
  leftOut: LeftOutFiles | null;
  /** It lacks its subject, because requests that ask the same share a comparison. */
  answer: Omit<CompletenessAnswer, 'about'>;
}

/** Compares a CI run with what was assigned. */
export async function compareCiRun(store: Store, subject: CompletenessSubject): Promise<Compared> {
  const { allowsEmpty = false, build: key } = subject;
  const evidence = await evidenceOf(store, subject);
  const { assigned, build, runs } = evidence;
  const leftOut = assigned && (await leftOutFiles(store, subject.project, key, assigned));
  const handed: AssignmentsByPath = assigned?.handed ?? new Map();
  const comparison = compare(handed, runs, key.node_total, { ...assigned, allowsEmpty });
  const full: number[] = [];
  for (const node of new Set([...comparison.handed_out_not_recorded.map(({ node_index }) => node_index), ...comparison.lostReruns])) {
    if (build && (await store.builds.runs(build.number, node)).length >= limits.runsPerNode) full.push(node);
  }
  // Tests of the files that it left out ran.
  const noTestRan = evidence.noTestRan && !leftOut;
  const own = incompleteness(assigned, comparison, { runs: runs.length, full, allowsEmpty, noTestRan });
  const errors = [...(leftOut?.doubt ? [leftOut.doubt] : []), ...own.errors];
  const mayBeEmpty = own.mayBeEmpty && errors.length === own.errors.length;
  const { handed_out_not_recorded, recorded_without_time } = comparison;
  const muted = mutedFailures(handed, runs, evidence.ciRun);
  const areAllListed = Math.max(handed_out_not_recorded.length, recorded_without_time.length) <= limits.completenessEntries;
  const flaky = cut(Array.from(retriedFailures(handed), ([path, nodes]) => ({ path, node_indexes: [...new Set(nodes)] })));
  const answer = {
    is_complete: errors.length === 0,
    kind: assigned?.kind ?? null,
    test_files: comparison.test_files,
    recorded: comparison.recorded,
    ...(leftOut && { proved: provedPart(leftOut) }),
    ...(muted.length > 0 && { muted: cut(muted), muted_count: muted.length }),
    no_test_ran: noTestRan,
    errors,
    may_be_empty: mayBeEmpty && areAllListed,
    warnings: [...(isPublicSide(subject.project) ? [PUBLIC_WARNING] : []), ...warningsOf(assigned, comparison, allowsEmpty)],
    never_handed_out: cut(comparison.never_handed_out),
    handed_out_not_recorded: cut(handed_out_not_recorded),
    ran_not_recorded: cut(comparison.ran_not_recorded),
    handed_on: cut(assigned?.reassigned ?? []),
    ...(flaky.length > 0 && (await comparedWithDefault(store, subject, flaky))),
    recorded_twice: cut(comparison.recorded_twice).map(({ path, node_indexes }) => ({ path, node_indexes: cut(node_indexes) })),
    recorded_not_handed_out: assigned ? cut(comparison.recorded_not_handed_out) : [],
    recorded_without_time: cut(recorded_without_time),
    nodes_came: cut(comparison.nodes_came),
    nodes_never_came: cut(comparison.nodes_never_came),
  };
  return { assigned, runs, told: evidence.told, nodesCame: comparison.nodes_came, leftOut, answer };
}

const PUBLIC_WARNING =
  'a public token ran this CI run: anyone who reads the repository may have taken or recorded its files, so let a run with a secret token decide the merge';

type FlakyFile = NonNullable<CompletenessAnswer['flaky']>[number];

/** Says which files are new: the default branch never measured them. A piece or a test case counts as its file. */
async function comparedWithDefault(
  { access, timings }: Pick<Store, 'access' | 'timings'>,
  { project, build }: CompletenessSubject,
  flaky: FlakyFile[],
): Promise<Pick<CompletenessAnswer, 'flaky' | 'default_branch'>> {
  // Nothing is known of the files of a public side.
  const branch = isPublicSide(project) ? null : ((await access.project(project))?.default_branch ?? null);
  if (branch === null) return { flaky };
  const files = flaky.map(({ path }) => fileOf(path) ?? fileOfPiece(path));
  const known = await timings.measuredOn(project, branch, files);
  const isNew = (file: string) => branch !== build.branch && !known.has(file);
  return { flaky: flaky.map((file, i) => ({ ...file, is_new: isNew(files[i]!) })), default_branch: branch };
}

function provedPart({ files, ciRuns }: LeftOutFiles): ProvedPart {
  return { test_files: files.size, ci_runs: ciRuns.map(({ id, ci_run }) => ({ ci_run_id: id, ci_run })) };
}

function cut<T>(list: readonly T[]): T[] {
  return list.slice(0, limits.completenessEntries);
}

/**
 * Why a CI run is not complete: a sentence for each reason, none when it is complete. `mayBeEmpty`: the only reason is files that are not
 * recorded as run, by nodes that recorded others: they may have nothing to run.
 *
 * @param runs how many recorded runs were compared
 * @param full nodes at the limit of kept runs
 */
function incompleteness(
  assigned: Assigned | null,
  comparison: Comparison,
  { runs, full, allowsEmpty, noTestRan }: { runs: number; full: readonly number[]; allowsEmpty: boolean; noTestRan: boolean },
): { errors: string[]; mayBeEmpty: boolean } {
  if (!assigned) return { errors: [nothingKnown(runs)], mayBeEmpty: false };
  const { never_handed_out, handed_out_not_recorded, recorded_without_time, ran_not_recorded, emptyReruns, lostReruns } = comparison;
  const { nodesWithoutRecording, silentNodes } = comparison;
  const { size } = assigned.handed;
  const all = comparison.test_files < size ? `${size} test files and pieces` : pluralize(size, 'test file');
  const ofAll = (count: number) => `${count} of ${all} ${agree(count, 'was', 'were')}`;
  const errors: string[] = [];
  const ofEmpty: string[] = [];
  if (assigned.isUnnamed)
    errors.push(
      'the nodes of this split sent no ci_build_id, so it is unknown what this CI run recorded; omit the id to ask about the newest split of the build',
    );
  if (assigned.otherList !== null)
    errors.push(
      `a node sent another list of test files, and a file in only one of the lists would not run: ${assigned.otherList}; give each suite a project of its own and all its nodes the same list, then start another CI run: this one stays incomplete`,
    );
  if (noTestRan)
    errors.push(
      'no test ran in any recorded test file, because each file has none, or only skipped or deselected ones: check how the nodes select tests (-m, -k, -t, --grep, --tag)',
    );
  const ended = handed_out_not_recorded.filter(({ node_index }) => !full.includes(node_index));
  if (ended.length > 0) {
    const areSilent = ended.some(({ node_index }) => silentNodes.includes(node_index));
    (areSilent ? errors : ofEmpty).push(
      `${ofAll(ended.length)} handed out and not recorded, to ${nodesOf(ended)}: a node or its test runner may have died; retry these nodes`,
    );
  }
  if (full.length > 0)
    errors.push(
      `${nodes(full)} recorded more than ${limits.runsPerNode - 1} retries of this build: later runs are not stored; run another commit`,
    );
  if (recorded_without_time.length > 0 && !allowsEmpty)
    ofEmpty.push(
      `${ofAll(recorded_without_time.length)} recorded with a time of 0 only, by ${nodesOf(recorded_without_time)}: nothing says that ${agree(recorded_without_time.length, 'it', 'they')} ran; look for files that could not be loaded, or allow empty files (allow_empty, ballast verify --allow-empty)`,
    );
  const lost = ran_not_recorded.filter(({ node_index }) => nodesWithoutRecording.includes(node_index));
  if (lost.length > 0)
    errors.push(
      `${ofAll(lost.length)} run and not recorded: ${nodesOf(lost)} recorded nothing since; a node that ends before it records may have failed, so retry it`,
    );
  const gone = lostReruns.filter(node => !full.includes(node));
  if (gone.length > 0) errors.push(`${nodes(gone)} restarted and recorded nothing since; the job may have died: retry it`);
  if (never_handed_out.length > 0)
    errors.push(`${ofAll(never_handed_out.length)} never handed out: no node pulled until the queue was empty; retry a node`);
  const unproved = emptyReruns.filter(node => !assigned.acknowledging.has(node));
  if (unproved.length > 0)
    errors.push(
      `${nodes(unproved)} ran nothing when run again, so a green result proves nothing: retry with fixed_queue_split, or with a node_build_id of its own`,
    );
  // A node that was cancelled did not run its files, also if it recorded others.
  if (assigned.cancelled.length > 0 && errors.length + ofEmpty.length > 0)
    errors.unshift(`${nodes(assigned.cancelled)} ${agree(assigned.cancelled.length, 'was', 'were')} cancelled: run the CI run again`);
  return { errors: [...errors, ...ofEmpty], mayBeEmpty: errors.length === 0 && ofEmpty.length > 0 };
}

function nothingKnown(runs: number): string {
  const recorded =
    runs === 0
      ? 'no node recorded a run'
      : `${pluralize(runs, 'run was', 'runs were')} recorded, by nodes in fallback or of another build id`;
  return `no split or queue of this build is known, and ${recorded}: compare commit_hash, branch, node_total and the build id with what the nodes send`;
}

/** Problems of a CI run that do not make it incomplete. */
function warningsOf(assigned: Assigned | null, comparison: Comparison, allowsEmpty: boolean): string[] {
  const { ran_not_recorded, recorded_twice, recorded_not_handed_out, recorded_without_time, nodes_never_came } = comparison;
  const warnings: string[] = [];
  if (ran_not_recorded.length > 0)
    warnings.push(`${count(ran_not_recorded)} run and not recorded, so the times are not known: ${nodesOf(ran_not_recorded)}`);
  // The number of nodes of a queue is the most that may come.
  if (nodes_never_came.length > 0 && assigned?.kind !== 'queue') warnings.push(`${nodes(nodes_never_came)} recorded nothing`);
  if (assigned && assigned.reassigned.length > 0)
    warnings.push(
      `${count(assigned.reassigned)} handed to another node, because the first one was silent, cancelled or restarted: ${nodesOf(assigned.reassigned)}`,
    );
  if (assigned && recorded_not_handed_out.length > 0)
    warnings.push(
      `${count(recorded_not_handed_out)} recorded by a node that did not get ${agree(recorded_not_handed_out.length, 'it', 'them')}, perhaps in fallback: ${nodesOf(recorded_not_handed_out)}`,
    );
  if (recorded_without_time.length > 0 && allowsEmpty)
    warnings.push(`${count(recorded_without_time)} recorded with a time of 0: scheduled, and perhaps not run`);
  if (recorded_twice.length > 0) warnings.push(`${count(recorded_twice)} recorded by several nodes`);
  return warnings;
}

/** Begins a sentence: 1 test file was, 2 test files were. */
function count(files: readonly unknown[]): string {
  return pluralize(files.length, 'test file was', 'test files were');
}

const NODES_NAMED = 20;

function nodesOf(entries: readonly { node_index: number }[]): string {
  return nodes([...new Set(entries.map(({ node_index }) => node_index))].sort((a, b) => a - b));
}

/** Names nodes in a sentence. */
function nodes(indexes: readonly number[]): string {
  const more = indexes.length - NODES_NAMED;
  return `${agree(indexes.length, 'node', 'nodes')} ${indexes.slice(0, NODES_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
