import { type Completeness, compare, type Hand, type Handed, type Run } from '../engine/completeness.js';
import { limits } from '../limits.js';
import { buildIdKey, runsSince } from '../store/builds.js';
import { listOfFiles, weightsOfQueue } from '../store/file-blocks.js';
import type { Store } from '../store/open.js';
import { batchesOf } from '../store/open-queue.js';
import { findLastQueue, findQueue, queueKey } from '../store/queue-keys.js';
import type { Millis } from '../store/records.js';
import { answerOfSplit, findSplit, splitKey } from '../store/splits.js';
import type { CompletenessAnswer, CompletenessQuery } from '../wire/completeness.js';
import type { PlannedTestFile } from '../wire/test-file.js';
import type { ReadAnswer } from './task.js';

export interface CompletenessSubject {
  project: number;
  query: CompletenessQuery;
}

/** What the nodes of a build were given to run. */
interface Plan {
  kind: 'queue' | 'split';
  /** What was recorded from then on counts. */
  since: Millis;
  handed: Handed;
}

/** Whether all that the build was to run is recorded: 200, else 409. */
export function completeness(store: Store, { project, query }: CompletenessSubject): ReadAnswer {
  const plan = planOf(store, project, query);
  const runs = runsSince(store, project, query, plan?.since ?? 0);
  const compared = compare(plan?.handed ?? new Map<string, Hand[]>(), runs, query.node_total);
  const answer = toAnswer(plan, compared, runs);
  return { status: answer.is_complete ? 200 : 409, body: JSON.stringify(answer) };
}

function planOf(store: Store, project: number, query: CompletenessQuery): Plan | null {
  const { node_build_id, ci_build_id } = query;
  if (node_build_id !== undefined) return queueOf(store, queueKey(project, query, node_build_id));
  if (ci_build_id !== undefined) {
    return splitOf(store, splitKey(project, query, ci_build_id)) ?? splitOf(store, splitKey(project, query, null));
  }
  const plans = [splitOf(store, splitKey(project, query, null)), lastQueueOf(store, buildIdKey(project, query))];
  return plans.reduce((last, plan) => (plan && (!last || plan.since > last.since) ? plan : last), null);
}

function splitOf(store: Store, key: string): Plan | null {
  const split = findSplit(store, key);
  if (!split) return null;
  const handed = new Map<string, Hand[]>();
  for (let node_index = 0; node_index < split.node_total; node_index++) {
    const answer = answerOfSplit(store, split, node_index);
    if (!answer) return null;
    const { test_files } = JSON.parse(answer.toString()) as { test_files: PlannedTestFile[] };
    for (const { path } of test_files) handed.set(path, [{ node_index, at: null }]);
  }
  return { kind: 'split', since: split.created_at, handed };
}

function lastQueueOf(store: Store, build: string): Plan | null {
  const id = findLastQueue(store, build);
  return id === null ? null : readPlan(store, id, null);
}

function queueOf(store: Store, key: string): Plan | null {
  const id = findQueue(store, key);
  return id === null ? null : readPlan(store, id, key);
}

/** @param run what its nodes pull under; null: under the last one that any did */
function readPlan(store: Store, id: string, run: string | null): Plan | null {
  const record = store.queues.get(id);
  if (!record) return null;
  const all = batchesOf(store, id);
  // A copy has what the nodes of the first were handed, too.
  const own = record.repeats ? all.filter(batch => batch.run === (run ?? all.at(-1)!.run)) : all;
  const files = Array.from(weightsOfQueue(store, id), (_, file) => file);
  const listed = JSON.parse(listOfFiles(store, id, files, '', '').toString()) as PlannedTestFile[];
  const hands = listed.map((): Hand[] => []);
  for (const { node_index, handed_at: at, files: handed } of own) for (const file of handed) hands[file]!.push({ node_index, at });
  return {
    kind: 'queue',
    since: record.repeats ? (own[0]?.handed_at ?? Infinity) : record.created_at,
    handed: new Map(listed.map(({ path }, file) => [path, hands[file]!])),
  };
}

function toAnswer(plan: Plan | null, compared: Completeness, runs: readonly Run[]): CompletenessAnswer {
  const { recorded, neverHandedOut, notRecorded, recordedTwice, notHandedOut, neverCame } = compared;
  const test_files = plan?.handed.size ?? 0;
  const cut = <T>(list: readonly T[]) => list.slice(0, limits.completenessEntries);
  return {
    is_complete: plan !== null && recorded === test_files,
    kind: plan?.kind ?? null,
    test_files,
    recorded,
    errors: errorsOf(plan, compared, runs.length),
    warnings: warningsOf(plan, compared),
    never_handed_out: cut(neverHandedOut).map(path => ({ path })),
    handed_out_not_recorded: cut(notRecorded).map(({ path, node_index, at }) => ({ path, node_index, handed_out_at: at === null ? null : new Date(at).toISOString() })),
    recorded_twice: cut(recordedTwice).map(({ path, nodes }) => ({ path, node_indexes: nodes })),
    recorded_not_handed_out: plan ? cut(notHandedOut) : [],
    nodes_never_came: neverCame,
  };
}

function errorsOf(plan: Plan | null, { neverHandedOut, notRecorded }: Completeness, runs: number): string[] {
  if (!plan) {
    const recorded = runs === 0 ? 'and no node recorded a run' : `and ${runs} runs were recorded, by nodes in fallback or of another build id`;
    return [`no split or queue of this build is known, ${recorded}: compare commit_hash, branch, node_total and the build id with what the nodes send`];
  }
  const of = `of ${plan.handed.size} test files were`;
  const errors: string[] = [];
  if (notRecorded.length > 0) {
    errors.push(`${notRecorded.length} ${of} handed out and not recorded, to ${nodesOf(notRecorded)}: did these nodes end before they recorded? retry them`);
  }
  if (neverHandedOut.length > 0) {
    errors.push(`${neverHandedOut.length} ${of} never handed out: no node pulled until the queue was empty; retry a node`);
  }
  return errors;
}

function warningsOf(plan: Plan | null, { recordedTwice, notHandedOut, neverCame }: Completeness): string[] {
  const warnings: string[] = [];
  if (neverCame.length > 0) warnings.push(`${named(neverCame)} never came`);
  if (plan && notHandedOut.length > 0) {
    warnings.push(`${notHandedOut.length} test files were recorded by nodes that they were not handed to, in fallback perhaps: ${nodesOf(notHandedOut)}`);
  }
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
