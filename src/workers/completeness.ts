import type { CompletenessAnswer, CompletenessQuery } from '../api/messages/completeness.js';
import { UNKNOWN_CI_BUILD_ID } from '../api/messages/split.js';
import { apiErrors } from '../api-error.js';
import { type Comparison, compare, type Hand, type Handed, type Return } from '../engine/completeness/compare.js';
import { beginningOf, isLater, type Moment } from '../engine/moment.js';
import { type Batch, isHandedOn } from '../engine/queue/batch.js';
import { limits } from '../limits.js';
import { buildIdKey, isFull, runsSince } from '../store/lmdb/builds.js';
import { shortDigest } from '../store/lmdb/digest.js';
import { allPathsOf } from '../store/lmdb/file-blocks.js';
import type { Store } from '../store/lmdb/open.js';
import { batchesOf } from '../store/lmdb/open-queue.js';
import { findLastQueue, findQueue, queueKey } from '../store/lmdb/queue-keys.js';
import type { QueueRecord } from '../store/lmdb/records.js';
import { filesOfSplit, findSplit, firstUseOf, splitKey } from '../store/lmdb/splits.js';
import type { ReadAnswer } from './task.js';

export interface CompletenessSubject {
  project: number;
  query: CompletenessQuery;
}

/** What the nodes of a build were given to run. */
interface Plan {
  kind: 'queue' | 'split';
  /** Nodes whose clients tell what they ran: run again, they are given what is not done, so maybe nothing. */
  acknowledging: ReadonlySet<number>;
  /** Only runs that were recorded after it count. */
  since: Moment;
  /** The query names a CI build, but the nodes of the split did not: it is unknown whether the split is its own. */
  isUnnamed: boolean;
  /** How a node's list differed from the planned one; null: none did. */
  otherList: string | null;
  handed: Handed;
  /** Of each node that came again the last time. */
  returns: readonly Return[];
  /** What silent nodes had before it went to others. */
  handedOn: { path: string; node_index: number }[];
}

/** Whether all that the build was to run is recorded: 200, else 409. */
export function completeness(store: Store, { project, query }: CompletenessSubject): ReadAnswer {
  const plan = planOf(store, project, query);
  const id = query.node_build_id ?? query.ci_build_id;
  const ciRun = id === undefined ? null : shortDigest(id);
  // A run that names no CI run may belong to this one.
  const runs = runsSince(store, project, query, plan?.since ?? null).filter(
    run => ciRun === null || run.ciRun === 0 || run.ciRun === ciRun,
  );
  const compared = compare(plan?.handed ?? new Map<string, Hand[]>(), runs, query.node_total, plan?.returns);
  const full = [...new Set([...compared.notRecorded.map(({ node_index }) => node_index), ...compared.goneAgain])].filter(node =>
    isFull(store, project, query, node),
  );
  const answer = toAnswer(plan, compared, runs.length, full);
  return { status: answer.is_complete ? 200 : 409, body: JSON.stringify(answer) };
}

function planOf(store: Store, project: number, query: CompletenessQuery): Plan | null {
  const { node_build_id, ci_build_id } = query;
  if (node_build_id !== undefined) return queueOf(store, findQueue(store, queueKey(project, query, node_build_id)));
  if (ci_build_id !== undefined) {
    return splitOf(store, splitKey(project, query, ci_build_id)) ?? splitOf(store, splitKey(project, query, null), ci_build_id);
  }
  const plans = [splitOf(store, splitKey(project, query, null)), queueOf(store, findLastQueue(store, buildIdKey(project, query)))];
  return plans.reduce((last, plan) => (plan && (!last || isLater(plan.since, last.since)) ? plan : last), null);
}

/** @param ci_build_id what recorded nodes of this one CI build, of those that share a fixed split; null: of any */
function splitOf(store: Store, key: string, ci_build_id: string | null = null): Plan | null {
  const split = findSplit(store, key);
  if (!split) return null;
  const own = ci_build_id === null ? undefined : firstUseOf(store, split, ci_build_id);
  const isUnnamed = ci_build_id !== null && own === undefined && firstUseOf(store, split, UNKNOWN_CI_BUILD_ID) !== undefined;
  const since = own ?? (ci_build_id === null || isUnnamed ? beginningOf(split) : null);
  if (since === null) return null;
  const handed = new Map<string, Hand[]>();
  for (const { node_index, paths } of filesOfSplit(store, split)) {
    for (const path of paths) handed.set(path, [{ node_index, at: null, ran: false, began: since }]);
  }
  return {
    kind: 'split',
    acknowledging: new Set(),
    isUnnamed,
    otherList: own?.other_list ?? split.other_list ?? null,
    since,
    handed,
    returns: [],
    handedOn: [],
  };
}

function queueOf(store: Store, id: string | null): Plan | null {
  if (id === null) return null;
  const record = store.queues.get(id);
  if (!record) throw apiErrors.expired('queue');
  // A copy has what the nodes of the first one were handed, too.
  const others = (store.batches.get([id, 0]) ?? []).filter(change => typeof change !== 'number');
  const seqs = new Set(others.map(({ seq }) => seq));
  const own = batchesOf(store, id).filter(({ seq }) => !seqs.has(seq));
  const paths = allPathsOf(store, id);
  const hands = paths.map((): Hand[] => []);
  const since = sinceOf(record, own);
  /** When each process began. */
  const began = new Map(own.filter(({ starts }) => starts).map(batch => [processOf(batch), momentOf(batch)]));
  for (const batch of own) {
    const { node_index, handed_at: at } = batch;
    const failed = new Set(batch.failed);
    const process = began.get(processOf(batch)) ?? since;
    for (const file of batch.files)
      hands[file]!.push({ node_index, at, ran: batch.failed !== undefined && !failed.has(file), began: process });
  }
  // Who had it there is to have it again.
  for (const { node_index, files } of others)
    for (const file of files) if (hands[file]!.length === 0) hands[file]!.push({ node_index, at: null, ran: false, began: since });
  return {
    kind: 'queue',
    isUnnamed: false,
    otherList: record.other_list ?? null,
    acknowledging: new Set(own.filter(({ acknowledges }) => acknowledges).map(({ node_index }) => node_index)),
    since,
    handed: new Map(paths.map((path, file) => [path, hands[file]!])),
    returns: returnsIn(own),
    handedOn: own
      .filter(isHandedOn)
      .flatMap(({ node_index, files }) =>
        files.filter(file => hands[file]!.at(-1)!.node_index !== node_index).map(file => ({ path: paths[file]!, node_index })),
      ),
  };
}

/** The moment after which recorded runs count for a queue. For a copy it is when the copy was made. */
function sinceOf(record: QueueRecord, [first]: readonly Batch[]): Moment {
  if (!record.repeats) return beginningOf(record);
  return { runs_before: record.copied_runs_before ?? null, at: record.copied_at ?? first?.handed_at ?? Infinity };
}

function processOf({ node_index, run }: Batch): string {
  return `${node_index} ${run}`;
}

function momentOf({ runs_before, handed_at: at }: Batch): Moment {
  return { runs_before: runs_before ?? null, at };
}

/** Of each node the last time that it came again, and got what it had, which it did not tell to have run; or nothing. */
function returnsIn(batches: readonly Batch[]): Return[] {
  const cameAgain = batches.filter(({ again, files, failed }) => files.length === 0 || (again && !failed));
  return [...new Map(cameAgain.map(batch => [batch.node_index, batch])).values()].map(batch => ({
    node_index: batch.node_index,
    moment: momentOf(batch),
    isEmpty: batch.files.length === 0,
  }));
}

/** @param full nodes of which no more runs are kept */
function toAnswer(plan: Plan | null, compared: Comparison, runs: number, full: readonly number[]): CompletenessAnswer {
  const { recorded, neverHandedOut, notRecorded, ranNotRecorded, recordedTwice, recordedByOthers, notMeasured, neverCame } = compared;
  const test_files = plan?.handed.size ?? 0;
  const errors = errorsOf(plan, compared, runs, full);
  return {
    is_complete: errors.length === 0,
    kind: plan?.kind ?? null,
    test_files,
    recorded,
    errors,
    warnings: warningsOf(plan, compared),
    never_handed_out: cut(neverHandedOut).map(path => ({ path })),
    handed_out_not_recorded: cut(notRecorded).map(({ path, node_index, at }) => ({
      path,
      node_index,
      handed_out_at: at === null ? null : new Date(at).toISOString(),
    })),
    ran_not_recorded: cut(ranNotRecorded).map(({ path, node_index }) => ({ path, node_index })),
    handed_on: cut(plan?.handedOn ?? []),
    recorded_twice: cut(recordedTwice).map(({ path, nodes }) => ({ path, node_indexes: cut(nodes) })),
    recorded_not_handed_out: plan ? cut(recordedByOthers) : [],
    recorded_without_time: cut(notMeasured).map(path => ({ path })),
    nodes_never_came: cut(neverCame),
  };
}

function cut<T>(list: readonly T[]): T[] {
  return list.slice(0, limits.completenessEntries);
}

/** Empty when it is complete. */
function errorsOf(
  plan: Plan | null,
  { neverHandedOut, notRecorded, ranNotRecorded, endedUnrecorded, ranNothingAgain, goneAgain }: Comparison,
  runs: number,
  full: readonly number[],
): string[] {
  if (!plan) {
    const recorded =
      runs === 0 ? 'and no node recorded a run' : `and ${runs} runs were recorded, by nodes in fallback or of another build id`;
    return [
      `no split or queue of this build is known, ${recorded}: compare commit_hash, branch, node_total and the build id with what the nodes send`,
    ];
  }
  const of = `of ${plan.handed.size} test files were`;
  const errors: string[] = [];
  if (plan.isUnnamed)
    errors.push(
      'the nodes of this split sent no ci_build_id, so it is unknown what this CI run recorded; omit the id to ask about the newest split of the build',
    );
  if (plan.otherList !== null)
    errors.push(
      `a node sent another list of test files, and a file in only one of the lists would not run: ${plan.otherList}; give each suite a project of its own and all its nodes the same list, then start another CI run: this one stays incomplete`,
    );
  const ended = notRecorded.filter(({ node_index }) => !full.includes(node_index));
  if (ended.length > 0) {
    errors.push(
      `${ended.length} ${of} handed out and not recorded, to ${nodesOf(ended)}: did these nodes or their test runners end before that? retry them`,
    );
  }
  if (full.length > 0) {
    errors.push(
      `of ${named(full)} ${limits.runsPerNode} runs of this build are kept and no more: what was run since is not known; run another commit`,
    );
  }
  if (endedUnrecorded.length > 0) {
    const count = ranNotRecorded.filter(({ node_index }) => endedUnrecorded.includes(node_index)).length;
    errors.push(
      `${count} ${of} run and not recorded: ${named(endedUnrecorded)} recorded nothing since; a node that ends before it records may have failed, so retry it`,
    );
  }
  const gone = goneAgain.filter(node => !full.includes(node));
  if (gone.length > 0)
    errors.push(`${named(gone)} came again and recorded nothing since: did these nodes end before they recorded? retry them`);
  if (neverHandedOut.length > 0) {
    errors.push(`${neverHandedOut.length} ${of} never handed out: no node pulled until the queue was empty; retry a node`);
  }
  const unproved = ranNothingAgain.filter(node => !plan.acknowledging.has(node));
  if (unproved.length > 0) {
    errors.push(
      `${named(unproved)} ran nothing when run again, so a green result proves nothing: retry with fixed_queue_split, or with a node_build_id of its own`,
    );
  }
  return errors;
}

function warningsOf(plan: Plan | null, { ranNotRecorded, recordedTwice, recordedByOthers, notMeasured, neverCame }: Comparison): string[] {
  const warnings: string[] = [];
  if (ranNotRecorded.length > 0)
    warnings.push(
      `${ranNotRecorded.length} test files were run and not recorded, so their times are not known: ${nodesOf(ranNotRecorded)}`,
    );
  if (neverCame.length > 0) warnings.push(`${named(neverCame)} ${plan?.kind === 'queue' ? 'took nothing and ' : ''}recorded nothing`);
  if (plan && plan.handedOn.length > 0)
    warnings.push(
      `${plan.handedOn.length} test files went to other nodes because theirs were silent or began anew: ${nodesOf(plan.handedOn)}`,
    );
  if (plan && recordedByOthers.length > 0) {
    warnings.push(
      `${recordedByOthers.length} test files were recorded by nodes that they were not handed to, in fallback perhaps: ${nodesOf(recordedByOthers)}`,
    );
  }
  if (notMeasured.length > 0)
    warnings.push(`${notMeasured.length} test files were recorded with a time of 0: scheduled, and perhaps not run`);
  if (recordedTwice.length > 0) warnings.push(`${recordedTwice.length} test files were recorded by several nodes`);
  return warnings;
}

const NODES_NAMED = 20;

function nodesOf(entries: readonly { node_index: number }[]): string {
  return named([...new Set(entries.map(({ node_index }) => node_index))].sort((a, b) => a - b));
}

function named(nodes: readonly number[]): string {
  const more = nodes.length - NODES_NAMED;
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${nodes.slice(0, NODES_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
