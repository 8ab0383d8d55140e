import type { Millis, Store } from '../../ports/store.js';
import type { Batch } from '../../queue/batch.js';
import type { Decision } from '../../queue/decision.js';
import { refusals } from '../../refusal.js';
import type { Subject, SubjectRun } from '../subject.js';
import { splitParts } from '../timeline/split-parts.js';
import type { NodeLane, Timeline } from '../timeline/timeline.js';
import { type BatchFacts, batchReason } from './batch-reason.js';
import { partReason } from './part-reason.js';
import type { PlanFiles } from './plan-files.js';
import { returnedFiles } from './returned-files.js';

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
