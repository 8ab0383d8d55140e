import { timestamp } from '../../../base/time.js';
import type { BatchReason, WhyAnswer } from '../../../protocol/answers/why.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { buildHead, type Subject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import { explainFile, handedBatches, handedParts, readPlan } from './hand-outs.js';

/** Hand-outs in an answer of why nodes got their files. */
export const EXPLAINED_BATCHES = 1000;
/** Files of one hand-out in that answer. */
export const EXPLAINED_FILES_PER_BATCH = 1000;
/** Files of all hand-outs in that answer. */
const EXPLAINED_FILES = 20_000;

/** The hand-outs to explain: those of a node, or one batch. */
export interface WhyFilter {
  node_index?: number;
  batch?: number;
}

/** Explains the hand-outs of a CI run. Throws a 422 when its recorded runs do not fit in memory. */
export async function why(store: Store, subject: Subject, filter: WhyFilter, now: Millis): Promise<WhyAnswer> {
  const timeline = await readTimeline(store, subject, now);
  const head = buildHead(subject, timeline);
  const { ciRun } = subject;
  if (!ciRun || timeline.kind === 'recordings') return { ...head, batches: [], batch_count: 0 };
  const planned = await readPlan(store, ciRun, timeline);
  const handOuts = await (ciRun.kind === 'queue' ? handedBatches : handedParts)(store, ciRun, timeline, planned);
  const asked = handOuts
    .filter(({ node_index, batch }) => isAsked(filter.node_index, node_index) && isAsked(filter.batch, batch))
    .sort((a, b) => a.at - b.at || (a.batch ?? a.node_index) - (b.batch ?? b.node_index));
  let room: number = EXPLAINED_FILES;
  const batches = asked.slice(0, EXPLAINED_BATCHES).map(({ batch, node_index, at, decision, files, seconds, reason }): BatchReason => {
    const listed = Math.min(files.length, EXPLAINED_FILES_PER_BATCH, room);
    room -= listed;
    return {
      ...{ batch, node_index },
      handed_at: timestamp(Math.round(timeline.started_at + 1000 * at)),
      reason: reason(),
      decision,
      files: files.slice(0, listed).map((file, i) => ({ ...explainFile(planned, file), seconds: seconds(i) })),
      file_count: files.length,
    };
  });
  return { ...head, batches, batch_count: asked.length };
}

function isAsked(asked: number | undefined, value: number | null): boolean {
  return asked === undefined || asked === value;
}
