import { limits } from '../../../limits.js';
import type { FileBasis } from '../../../planning/estimating/basis.js';
import type { Millis, Store } from '../../ports/store.js';
import type { Decision } from '../../queue/decision.js';
import type { Subject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import type { Timeline } from '../timeline/timeline.js';
import { type Draft, draftBatches, draftParts, PlanFiles } from './hand-outs.js';

/** Why the nodes of a CI run got their files, as it was known then. */
export interface Why {
  timeline: Timeline;
  /** In the order of time, at most `limits.explainedBatches`. Empty: only recordings are known. */
  handOuts: HandOut[];
  /** How many there are. */
  count: number;
}

/** A batch of a queue, or a node's part of a split. */
export interface HandOut {
  /** Null: a split. */
  seq: number | null;
  node_index: number;
  at: Millis;
  /** In a few sentences. */
  reason: string;
  /** Null: the planner did not size it. */
  decision: Decision | null;
  /** At most `limits.explainedFilesPerBatch`, and at most `limits.explainedFiles` of all hand-outs. */
  files: ExplainedFile[];
  fileCount: number;
}

export interface ExplainedFile extends FileBasis {
  path: string;
  /** Seconds. */
  estimate: number;
  /** What it took then; NaN: not recorded. */
  seconds: number;
}

/** Which hand-outs to explain: those of a node, or one batch. */
export interface WhyFilter {
  node_index?: number;
  batch?: number;
}

/** Explains the hand-outs of a CI run. Throws a 422 when its recorded runs do not fit in memory. */
export async function why(store: Store, subject: Subject, filter: WhyFilter, now: Millis): Promise<Why> {
  const timeline = await readTimeline(store, subject, now);
  const { ciRun } = subject;
  if (!ciRun || timeline.kind === 'recordings') return { timeline, handOuts: [], count: 0 };
  const planned = await PlanFiles.read(store, ciRun, timeline.files);
  const drafts = await (ciRun.kind === 'queue' ? draftBatches : draftParts)(store, subject, ciRun, timeline, planned);
  const asked = drafts
    .filter(({ node_index, seq }) => isAsked(filter.node_index, node_index) && isAsked(filter.batch, seq))
    .sort((a, b) => a.at - b.at || (a.seq ?? a.node_index) - (b.seq ?? b.node_index));
  let room: number = limits.explainedFiles;
  const handOuts = asked.slice(0, limits.explainedBatches).map(draft => {
    const listed = Math.min(draft.files.length, limits.explainedFilesPerBatch, room);
    room -= listed;
    return toHandOut(draft, listed, planned);
  });
  return { timeline, handOuts, count: asked.length };
}

function isAsked(asked: number | undefined, value: number | null): boolean {
  return asked === undefined || asked === value;
}

function toHandOut({ seq, node_index, at, decision, files, seconds, reason }: Draft, listed: number, planned: PlanFiles): HandOut {
  const explained = files.slice(0, listed).map(
    (file, i): ExplainedFile => ({
      path: planned.files.paths[file]!,
      estimate: planned.estimate(file),
      ...planned.basis(file),
      seconds: seconds(i),
    }),
  );
  return { seq, node_index, at, reason: reason(), decision, files: explained, fileCount: files.length };
}
