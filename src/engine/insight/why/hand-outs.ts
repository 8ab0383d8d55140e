import { type Basis, decodeBasis, type FileBasis, fileBasis } from '../../../planning/estimating/basis.js';
import type { Millis, Store } from '../../ports/store.js';
import { type Batch, type EndedLease, wasReassigned } from '../../queue/batch.js';
import type { Decision } from '../../queue/decision.js';
import { refusals } from '../../refusal.js';
import type { Subject, SubjectRun } from '../subject.js';
import { splitParts } from '../timeline/read-timeline.js';
import type { NodeLane, Timeline, TimelineFiles } from '../timeline/timeline.js';
import { type BatchFacts, batchReason, partReason } from './batch-reason.js';

/** Files that a node got together: a batch of a queue, or its part of a split. */
export interface Draft {
  /** Null: a split. */
  seq: number | null;
  node_index: number;
  at: Millis;
  decision: Decision | null;
  /** Indices into the timeline's files, in the order in which the node was given them. */
  files: number[];
  /** What it recorded for file i of these; NaN: nothing. */
  seconds: (i: number) => number;
  /** Why, in a few sentences. */
  reason: () => string;
}

/** The batches of a queue, by node. */
export async function draftBatches(
  { queues }: Store,
  { build }: Subject,
  { plan }: SubjectRun,
  { nodes }: Timeline,
  planned: PlanFiles,
): Promise<Draft[]> {
  const copied = new Set((await queues.copiedBatches(plan)).map(({ node_index }) => node_index));
  const batches = await queues.batches(plan);
  const bySeq = new Map(batches.map(batch => [batch.seq, batch]));
  const returned = returnedFiles(batches);
  const { isGuessed } = planned;
  return nodes.flatMap(({ node_index, spans }) =>
    spans.flatMap((span): Draft[] => {
      const { seq, from, decision, seconds } = span;
      const batch = seq === null ? undefined : bySeq.get(seq);
      // The node ran files that it did not get from the queue.
      if (!batch) return [];
      // Recorded files that the batch did not have are after its own.
      const files = Array.from(span.files.subarray(0, batch.files.length));
      const facts = (): BatchFacts => ({
        ...{ node_index, nodeTotal: build.node_total, decision, isGuessed },
        weight: planned.weightOf(files),
        files: files.length,
        filesWithCases: batch.cases?.length ?? 0,
        replay: replayOf(batch, copied),
        returned: returned.get(batch.seq) ?? [],
      });
      return [{ seq, node_index, at: from, decision, files, seconds: i => seconds[i]!, reason: () => batchReason(facts()) }];
    }),
  );
}

function replayOf({ isReplay, acknowledges, node_index }: Batch, copied: ReadonlySet<number>): BatchFacts['replay'] {
  if (!isReplay) return null;
  if (acknowledges) return 'unfinished';
  return copied.has(node_index) ? 'copied' : 'own';
}

/** The parts of a split, by node. */
export async function draftParts(
  { splits }: Store,
  { build }: Subject,
  { id, plan }: SubjectRun,
  { nodes, start }: Timeline,
  planned: PlanFiles,
): Promise<Draft[]> {
  const forecast = await splits.forecast({ id: plan });
  const parts = await splitParts(splits, { id: plan }, build.node_total);
  if (!parts) throw refusals.expired('split');
  const total = planned.weightOf(planned.all);
  const drafts: Draft[] = [];
  let end = 0;
  for (const lane of nodes) {
    const { node_index } = lane;
    const files = planned.all.slice(end, (end += parts[node_index]!.length));
    const facts = {
      ...{ node_index, nodeTotal: build.node_total, files: files.length, isReused: id !== plan },
      weight: planned.weightOf(files),
      mean: total / build.node_total,
      makespan: forecast?.makespan ?? NaN,
      bound: forecast?.lower_bound ?? NaN,
    };
    const recorded = recordedIn(lane);
    drafts.push({
      ...{ seq: null, node_index, at: lane.start ?? start, decision: null, files },
      seconds: i => recorded.get(files[i]!) ?? NaN,
      reason: () => partReason(facts),
    });
  }
  return drafts;
}

/** The last time that a node recorded for each file. */
function recordedIn({ spans }: NodeLane): Map<number, number> {
  const recorded = new Map<number, number>();
  for (const { files, seconds } of spans) {
    for (const [i, file] of files.entries()) if (!Number.isNaN(seconds[i])) recorded.set(file, seconds[i]!);
  }
  return recorded;
}

/** What the plan of a CI run knew of its files. */
export class PlanFiles {
  /** How many files were planned: the first ones of the timeline. */
  readonly count: number;
  /** Their indices. */
  readonly all: readonly number[];
  readonly #basis: Basis;

  constructor(
    readonly files: TimelineFiles,
    basis: Uint8Array,
  ) {
    let count = 0;
    while (count < files.paths.length && !Number.isNaN(files.estimates[count])) count += 1;
    this.count = count;
    this.all = Array.from({ length: count }, (_, file) => file);
    this.#basis = decodeBasis(basis, count).basis;
  }

  static async read({ queues, splits }: Store, { kind, plan }: SubjectRun, files: TimelineFiles): Promise<PlanFiles> {
    const basis = await (kind === 'queue' ? queues.basis(plan) : splits.basis({ id: plan }));
    if (!basis) throw refusals.expired(kind);
    return new PlanFiles(files, basis);
  }

  /** Most files were never measured. */
  get isGuessed(): boolean {
    return 2 * this.files.isGuess.reduce((sum, each) => sum + each, 0) > this.count;
  }

  /** Seconds. */
  estimate(file: number): number {
    return this.files.estimates[file]!;
  }

  basis(file: number): FileBasis {
    return fileBasis(this.#basis, file);
  }

  /** The estimates of files together. */
  weightOf(files: readonly number[]): number {
    return files.reduce((sum, file) => sum + this.estimate(file), 0);
  }
}

/** Files of a batch that another batch had before, and that went back to the queue when the lease of that one ended. */
export interface ReturnedFiles {
  node_index: number;
  lease: EndedLease;
  files: number;
}

/**
 * Which files of each batch came back from earlier ones, by seq, most files first.
 *
 * @param batches those of a queue, in the order in which they were handed out
 */
export function returnedFiles(batches: readonly Batch[]): Map<number, ReturnedFiles[]> {
  const returned = new Map<number, ReturnedFiles[]>();
  /** The batch from which each file went back. */
  const sources = new Map<number, Batch>();
  for (const batch of batches) {
    const found = new Map<Batch, ReturnedFiles>();
    for (const file of batch.isReplay ? [] : batch.files) {
      const source = sources.get(file);
      if (!source) continue;
      sources.delete(file);
      const known = found.get(source);
      if (known) known.files += 1;
      else found.set(source, { node_index: source.node_index, lease: source.lease!, files: 1 });
    }
    const most = [...found.values()].sort((a, b) => b.files - a.files);
    if (most.length > 0) returned.set(batch.seq, most);
    if (wasReassigned(batch)) for (const file of batch.files) sources.set(file, batch);
  }
  return returned;
}
