import { type BuildKey, fixedSplitKey, queueKey, type SplitKey, splitKey, UNNAMED_CI_RUN } from '../keys.js';
import { beginningOf, beginningOfQueue, isLater, type Moment } from '../moment.js';
import { pathsByNode, pathsOfQueue } from '../planned-files.js';
import type { PlanInfo } from '../ports/plans.js';
import type { QueueInfo } from '../ports/queues.js';
import type { Splits } from '../ports/splits.js';
import type { Store } from '../ports/store.js';
import { type Batch, wasReassigned } from '../queue/batch.js';
import { batchesOf } from '../queues.js';
import type { Assignment, AssignmentsByPath, Restart } from './compare.js';

/** Names the CI run to check. Without an id it is the newest one of the build. */
export interface CompletenessSubject {
  project: number;
  build: BuildKey;
  /** The id of its queue. */
  node_build_id?: string;
  /** The id of its split. */
  ci_build_id?: string;
  /** A file that was recorded with a time of 0 only counts as run. */
  allowsEmpty?: boolean;
}

/** The split or queue of a CI run. */
export interface PlanOfCiRun {
  kind: 'queue' | 'split';
  info: PlanInfo;
  /** Only runs that were recorded after this moment count. */
  since: Moment;
  /** The subject names a CI run, but the nodes of the split did not. Whether the split belongs to that run is unknown. */
  isUnnamed: boolean;
  /** The difference between a node's list and the planned one; null: there was none. */
  otherList: string | null;
}

/** The files that were assigned to the nodes of a CI run. */
export interface Assigned extends PlanOfCiRun {
  /** Nodes whose clients report what they ran. When such a node restarts, it gets only unfinished files, possibly none. */
  acknowledging: ReadonlySet<number>;
  handed: AssignmentsByPath;
  /** Paths of the form of a piece are pieces. Otherwise they are files, like all others. */
  hasPieces: boolean;
  /** The last restart of each node that restarted. */
  restarts: readonly Restart[];
  /** Nodes that were cancelled with their last batch. */
  cancelled: readonly number[];
  /** Files that moved from silent, cancelled or restarted nodes to others. */
  reassigned: { path: string; node_index: number }[];
}

/** Finds the files that were assigned in a CI run; null: it has no known split or queue. */
export async function findAssigned(store: Store, subject: Omit<CompletenessSubject, 'allowsEmpty'>): Promise<Assigned | null> {
  const plan = await findPlan(store, subject);
  if (!plan) return null;
  return { ...plan, ...(await (plan.kind === 'queue' ? assignedByQueue : assignedBySplit)(store, plan)) };
}

/** The nodes that pulled files. */
export function nodesWithFiles({ handed }: Pick<Assigned, 'handed'>): Set<number> {
  const nodes = new Set<number>();
  for (const assignments of handed.values()) for (const { node_index, at } of assignments) if (at !== null) nodes.add(node_index);
  return nodes;
}

/** Finds the split or queue of a CI run; null: none is known. */
export async function findPlan(
  { splits, queues }: Pick<Store, 'splits' | 'queues'>,
  { project, build, node_build_id, ci_build_id }: Omit<CompletenessSubject, 'allowsEmpty'>,
): Promise<PlanOfCiRun | null> {
  if (node_build_id !== undefined) return planOfQueue(await queues.find(queueKey(project, build, node_build_id)));
  if (ci_build_id !== undefined) {
    const own = await planOfSplit(splits, splitKey(project, build, ci_build_id, false), null);
    return own ?? planOfSplit(splits, fixedSplitKey(project, build), ci_build_id);
  }
  const split = await planOfSplit(splits, fixedSplitKey(project, build), null);
  const queue = planOfQueue(await queues.newest(project, build));
  return split && queue ? (isLater(queue.since, split.since) ? queue : split) : (split ?? queue);
}

/** @param ci_run the CI run among those that share a fixed split; null: any */
async function planOfSplit(splits: Splits, key: SplitKey, ci_run: string | null): Promise<PlanOfCiRun | null> {
  const split = await splits.find(key);
  if (!split) return null;
  const own = ci_run === null ? null : await splits.firstUse(split, ci_run);
  const isUnnamed = ci_run !== null && !own && (await splits.firstUse(split, UNNAMED_CI_RUN)) !== null;
  const since = own ?? (ci_run === null || isUnnamed ? beginningOf(split) : null);
  return since && { kind: 'split', info: split, since, isUnnamed, otherList: own?.other_list ?? split.other_list ?? null };
}

function planOfQueue(queue: QueueInfo | null): PlanOfCiRun | null {
  return queue && { kind: 'queue', info: queue, since: beginningOfQueue(queue), isUnnamed: false, otherList: queue.other_list ?? null };
}

type AssignedFiles = Omit<Assigned, keyof PlanOfCiRun>;

async function assignedBySplit(store: Store, { info, since }: PlanOfCiRun): Promise<AssignedFiles> {
  const handed = new Map<string, Assignment[]>();
  for await (const { node_index, paths } of pathsByNode(store, info)) {
    for (const path of paths) handed.set(path, [{ node_index, at: null, ran: false, hasFailed: false, processBegan: since }]);
  }
  return { acknowledging: new Set(), handed, hasPieces: false, restarts: [], cancelled: [], reassigned: [] };
}

async function assignedByQueue(store: Store, { info, since }: PlanOfCiRun): Promise<AssignedFiles> {
  const { own, copied } = await batchesOf(store.queues, info.id);
  const paths = await pathsOfQueue(store, info.id);
  const hands = handsOf(paths.length, own, since);
  // A node gets each file again that it had in the copied queue.
  for (const { node_index, files } of copied) {
    for (const file of files)
      if (hands[file]!.length === 0) hands[file]!.push({ node_index, at: null, ran: false, hasFailed: false, processBegan: since });
  }
  return {
    acknowledging: new Set(own.filter(({ acknowledges }) => acknowledges).map(({ node_index }) => node_index)),
    handed: new Map(paths.map((path, file) => [path, hands[file]!])),
    hasPieces: info.list.pieces_for !== undefined,
    restarts: restartsIn(own),
    cancelled: cancelledIn(own),
    reassigned: own
      .filter(wasReassigned)
      .flatMap(({ node_index, files }) =>
        files.filter(file => hands[file]!.at(-1)!.node_index !== node_index).map(file => ({ path: paths[file]!, node_index })),
      ),
  };
}

/** The assignments of each file, by index. */
function handsOf(files: number, batches: readonly Batch[], since: Moment): Assignment[][] {
  const hands = Array.from({ length: files }, (): Assignment[] => []);
  /** When each process began. */
  const began = new Map(batches.filter(({ isFirstRequest }) => isFirstRequest).map(batch => [processOf(batch), momentOf(batch)]));
  for (const batch of batches) {
    const { node_index, handed_at: at } = batch;
    const failed = new Set(batch.failed);
    const process = began.get(processOf(batch)) ?? since;
    for (const file of batch.files) {
      const hasFailed = failed.has(file);
      const ran = batch.failed !== undefined && !hasFailed;
      // A node that is cancelled reports what it did not run.
      const isCancelled = batch.lease === 'cancelled';
      const hand = { node_index, at, ran, hasFailed: hasFailed && !isCancelled, processBegan: process };
      hands[file]!.push(batch.retry ? { ...hand, isRetry: true } : hand);
    }
  }
  return hands;
}

function processOf({ node_index, run }: Batch): string {
  return `${node_index} ${run}`;
}

/** When the first request of a process was answered, with this batch. */
function momentOf({ runs_before, handed_at: at }: Batch): Moment {
  return { runs_before: runs_before!, at };
}

function cancelledIn(batches: readonly Batch[]): number[] {
  const last = new Map(batches.map(batch => [batch.node_index, batch]));
  const cancelled = [...last.values()].filter(({ cancelled_at }) => cancelled_at !== undefined);
  return cancelled.map(({ node_index }) => node_index).sort((a, b) => a - b);
}

/** The last restart of each node. The node got the files that it had not reported as run, or nothing. */
function restartsIn(batches: readonly Batch[]): Restart[] {
  const replays = batches.filter(({ isReplay, files, failed }) => files.length === 0 || (isReplay && !failed));
  return [...new Map(replays.map(batch => [batch.node_index, batch])).values()].map(batch => ({
    node_index: batch.node_index,
    moment: momentOf(batch),
    isEmpty: batch.files.length === 0,
  }));
}
