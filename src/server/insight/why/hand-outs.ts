import type { BatchReason, FileReason } from '../../../protocol/answers/why.js';
import { pieceOf } from '../../../protocol/piece-path.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { Store } from '../../engine/ports/store.js';
import { type Batch, decisionOf, movedFiles, wasReassigned } from '../../engine/queue/batch.js';
import { refusals } from '../../engine/refusal.js';
import type { FirstFiles } from '../../planning/batching/first-files.js';
import { type Basis, decodeBasis, fileBasis } from '../../planning/estimating/basis.js';
import { splitParts } from '../timeline/read-timeline.js';
import type { NodeLane, Timeline, TimelineFiles } from '../timeline/timeline.js';
import { type BatchFacts, batchReason, partReason, type ReturnedFiles } from './batch-reason.js';

/** Files that a node got together: a batch of a queue, or its part of a split. */
export interface HandOut extends Pick<BatchReason, 'batch' | 'node_index' | 'decision'> {
  /** When, in seconds since the start of the build. */
  at: number;
  /** Indices into the timeline's files, in the order in which the node was given them. */
  files: number[];
  /** Recorded seconds of file i of these; null: nothing was recorded. */
  seconds: (i: number) => number | null;
  /** Why, in a few sentences. */
  reason: () => string;
}

/** The batches of a queue, by node. */
export async function handedBatches(
  { plans, queues }: Store,
  { plan, node_total }: CiRun,
  { nodes }: Timeline,
  planned: PlanFiles,
): Promise<HandOut[]> {
  const copied = new Set((await queues.copiedBatches(plan)).map(({ node_index }) => node_index));
  const batches = await queues.batches(plan);
  const first = await plans.part(plan, 'first');
  const bySeq = new Map(batches.map(batch => [batch.seq, batch]));
  const returned = returnedFiles(batches);
  const isGuessed = 2 * planned.files.is_guess.reduce<number>((sum, each) => sum + each, 0) > planned.all.length;
  const wereFewer = nodes.some(({ start }) => start === null);
  return nodes.flatMap(({ node_index, spans }) =>
    spans.flatMap(({ batch: seq, from, files: ran, seconds }): HandOut[] => {
      const batch = seq === null ? undefined : bySeq.get(seq);
      // The node ran files that it did not get from the queue.
      if (!batch) return [];
      // Recorded files that the batch did not have are after its own.
      const files = ran.slice(0, batch.files.length);
      const decision = decisionOf(batch);
      const facts = (): BatchFacts => ({
        ...{ node_index, nodeTotal: node_total, wereFewer, decision, isGuessed },
        weight: weightOf(planned, files),
        files: files.length,
        filesWithCases: batch.cases?.length ?? 0,
        pieces: files.flatMap(file => pieceOf(planned.files.paths[file]!) ?? []),
        replay: replayOf(batch, copied),
        failedOn: batch.retry ? failedOn(batches, batch) : null,
        returned: returned.get(batch.seq) ?? [],
        first: first && firstIn(batch, first),
      });
      return [{ batch: seq, node_index, at: from, decision, files, seconds: i => seconds[i]!, reason: () => batchReason(facts()) }];
    }),
  );
}

function firstIn({ files }: Batch, { failed, unmeasured }: FirstFiles): BatchFacts['first'] {
  const count = (some: readonly number[]) => files.filter(file => some.includes(file)).length;
  const counts = { failed: count(failed), unmeasured: count(unmeasured) };
  return counts.failed + counts.unmeasured > 0 ? counts : null;
}

/** The nodes on which the file of a retry failed before. */
function failedOn(batches: readonly Batch[], { seq, files }: Batch): number[] {
  const before = batches.filter(other => other.seq < seq && other.failed?.includes(files[0]!));
  return [...new Set(before.map(({ node_index }) => node_index))];
}

function replayOf({ isReplay, acknowledges, node_index }: Batch, copied: ReadonlySet<number>): BatchFacts['replay'] {
  if (!isReplay) return null;
  if (acknowledges) return 'unfinished';
  return copied.has(node_index) ? 'copied' : 'own';
}

/** The parts of a split, by node. */
export async function handedParts(
  { plans }: Store,
  { id, plan, node_total }: CiRun,
  { nodes }: Timeline,
  planned: PlanFiles,
): Promise<HandOut[]> {
  const forecast = await plans.part(plan, 'forecast');
  const parts = await splitParts(plans, plan, node_total);
  if (!parts) throw refusals.expired('split');
  const total = weightOf(planned, planned.all);
  const handOuts: HandOut[] = [];
  let end = 0;
  for (const lane of nodes) {
    const { node_index } = lane;
    const files = planned.all.slice(end, (end += parts[node_index]!.length));
    const facts = {
      ...{ node_index, nodeTotal: node_total, files: files.length, isReused: id !== plan },
      weight: weightOf(planned, files),
      mean: total / node_total,
      forecast,
    };
    const recorded = recordedIn(lane);
    handOuts.push({
      ...{ batch: null, node_index, at: lane.start ?? 0, decision: null, files },
      seconds: i => recorded.get(files[i]!) ?? null,
      reason: () => partReason(facts),
    });
  }
  return handOuts;
}

/** The last time that a node recorded for each file. */
function recordedIn({ spans }: NodeLane): Map<number, number> {
  const recorded = new Map<number, number>();
  for (const { files, seconds } of spans) {
    for (const [i, file] of files.entries()) if (seconds[i] !== null) recorded.set(file, seconds[i]!);
  }
  return recorded;
}

/** Facts that the plan of a CI run has of its files. */
export interface PlanFiles {
  files: TimelineFiles;
  /** The indices of the files that were planned: the first ones of the timeline. */
  all: readonly number[];
  basis: Basis;
}

export async function readPlan({ plans }: Store, { kind, plan }: CiRun, files: TimelineFiles): Promise<PlanFiles> {
  const encoded = await plans.part(plan, 'basis');
  if (!encoded) throw refusals.expired(kind);
  const unplanned = files.estimates.indexOf(null);
  const count = unplanned === -1 ? files.paths.length : unplanned;
  return { files, all: Array.from({ length: count }, (_, file) => file), basis: decodeBasis(encoded, count).basis };
}

/** A file without what it took. */
export function explainFile({ files: { paths, estimates }, basis }: PlanFiles, file: number): Omit<FileReason, 'seconds'> {
  return { path: paths[file]!, estimate: estimates[file]!, ...fileBasis(basis, file) };
}

/** The estimates of planned files together. */
function weightOf({ files: { estimates } }: PlanFiles, some: readonly number[]): number {
  return some.reduce((sum, file) => sum + estimates[file]!, 0);
}

/**
 * Lists the files of each batch that came back from earlier ones, by seq, most files first.
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
    if (wasReassigned(batch)) for (const file of movedFiles(batch)) sources.set(file, batch);
  }
  return returned;
}
