import { missesFiles } from '../../../protocol/build-state.js';
import type { ProjectBuild } from '../../engine/keys.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import type { Summary } from '../../engine/ports/summaries.js';
import type { BatchSums } from '../../planning/batching/batch-cost.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import { minutesOf } from '../minutes/minutes.js';
import { lossesOf } from '../minutes/verdict.js';
import { newestSubject, type Subject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import { observedInTimeline } from '../timeline/recorded-batches.js';
import { wasMostlyGuessed } from '../timeline/timeline.js';
import { baselinesOf } from '../what-if/savings.js';
import { summarize } from './summary.js';

/** The summary of the newest CI run of a build, and what else is read of its timeline at the same time. */
export interface SummarizedBuild extends Pick<Subject, 'recorded' | 'ciRun'> {
  summary: Summary;
  /** Sums over its batches, if its queue was one of guesses and so could not observe their cost. */
  observed: BatchSums | null;
  /** Why files are missing, in a sentence; null: none are, or nodes are at work. */
  losses: string | null;
}

/** Throws a 422 when recorded runs do not fit in memory. */
export async function buildSummary(store: Store, { build, at }: { build: ProjectBuild; at: Millis }): Promise<SummarizedBuild> {
  const subject = await newestSubject(store, build);
  const { recorded, ciRun } = subject;
  const timeline = await readTimeline(store, subject, at);
  const minutes = minutesOf(timeline);
  const summary = summarize(recorded, timeline, minutes, baselinesOf(timeline));
  const losses = missesFiles(summary.state) ? lossesOf(timeline, minutes, fileOutcomes(timeline, 0).missing) : null;
  return { recorded, ciRun, summary, observed: wasMostlyGuessed(timeline) ? observedInTimeline(timeline) : null, losses };
}
