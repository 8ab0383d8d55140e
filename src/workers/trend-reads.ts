import { fileHistoryAnswer, fileTrendsAnswer, nodeTrendsAnswer } from '../api/insight/trend-answers.js';
import { minutesOf } from '../engine/insight/minutes/minutes.js';
import { newestSubject } from '../engine/insight/subject.js';
import { readTimeline } from '../engine/insight/timeline/read-timeline.js';
import { fileHistory } from '../engine/insight/trends/file-history.js';
import { type FileTrendSubject, fileTrends } from '../engine/insight/trends/file-trends.js';
import { type NodeTrendSubject, nodeTrends } from '../engine/insight/trends/node-trends.js';
import { summarize } from '../engine/insight/trends/summary.js';
import { baselinesOf } from '../engine/insight/what-if/savings.js';
import type { Build } from '../engine/ports/builds.js';
import type { Millis, Store } from '../engine/ports/store.js';
import type { Summary } from '../engine/ports/summaries.js';
import type { Json } from './reads.js';

/** A trend, and the builds whose summaries are to be written before it is read again. */
export interface TrendJson {
  json: Json;
  outdated: Build[];
}

/** The summary of the newest CI run of a build. */
export async function buildSummary(store: Store, { build, at }: { build: Build; at: Millis }): Promise<Summary> {
  const timeline = await readTimeline(store, await newestSubject(store, build), at);
  return summarize(build, timeline, minutesOf(timeline), baselinesOf(timeline));
}

export async function fileTrendsJson(store: Store, subject: FileTrendSubject): Promise<TrendJson> {
  const page = await fileTrends(store, subject);
  return { json: JSON.stringify(fileTrendsAnswer(subject.branch, page)), outdated: page.outdated };
}

export async function fileHistoryJson(
  store: Store,
  { project, branch, path }: { project: number; branch: string; path: string },
): Promise<TrendJson> {
  const history = await fileHistory(store, project, branch, path);
  return { json: JSON.stringify(fileHistoryAnswer(path, branch, history)), outdated: history.outdated };
}

export async function nodeTrendsJson(store: Store, subject: NodeTrendSubject): Promise<TrendJson> {
  const history = await nodeTrends(store, subject);
  return { json: JSON.stringify(nodeTrendsAnswer(subject.branch, history)), outdated: history.outdated };
}
