import { limits } from '../../../limits.js';
import { estimate, pathOf, QUEUE_PERCENTILE, SPLIT_PERCENTILE } from '../../../planning/estimating/estimate.js';
import { unknownFiles } from '../../../planning/forecasting/forecast.js';
import { toSeconds } from '../../../planning/weight.js';
import type { Build } from '../../ports/builds.js';
import type { Millis, Store } from '../../ports/store.js';
import { Refusal, refusals } from '../../refusal.js';
import { suiteOf } from '../../suites/suite.js';
import { findSubject, type Subject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import type { Timeline } from '../timeline/timeline.js';
import { type Changes, type Knowledge, usualEstimatesOf, type WhatIf, whatIfOf } from './what-if.js';

/** Which build to play again, and how. */
export interface WhatIfSubject {
  project: number;
  /** The id of a build or of a CI run. */
  id: string;
  /** The id of another CI run of the build. */
  ciRun: string | undefined;
  /** Null: some that show where more nodes are of no use. */
  nodes: readonly number[] | null;
  changes: Changes;
  /** See Scenario. */
  expectedPullCost: number;
  now: Millis;
}

/** A build that is ready to be played. */
export interface PreparedWhatIf {
  subject: Subject;
  timeline: Pick<Timeline, 'kind' | 'start' | 'end' | 'paused' | 'isRunning'>;
  whatIf: WhatIf;
  /** The numbers of nodes to play, ascending. */
  nodes: number[];
  /** Wall times in seconds of real builds, by number of nodes. */
  measured: Map<number, number>;
}

/** Reads a build, and what is needed to play it. It may take long. Throws a 404 or a 422. */
export async function prepareWhatIf(store: Store, asked: WhatIfSubject): Promise<PreparedWhatIf> {
  const { project, changes } = asked;
  const subject = await findSubject(store, project, asked.id, asked.ciRun);
  if (!subject) throw refusals.buildNotFound();
  const { node_total: nodeTotal } = subject.build;
  if (nodeTotal > limits.playedNodes)
    throw new Refusal(`cannot play a build of ${nodeTotal} nodes again: the limit is ${limits.playedNodes} nodes`);
  const timeline = await readTimeline(store, subject, asked.now);
  const { kind, start, end, paused, isRunning, files } = timeline;
  const unknown = changes.cut.find(path => !files.paths.includes(path));
  if (unknown !== undefined) throw new Refusal(`names a file that the build does not have: ${unknown}`, 'parameter', 'cut');
  const whatIf = whatIfOf(timeline, changes, { ...(await knowledgeFor(store, subject, timeline, asked)), nodeTotal });
  const nodes = [...(asked.nodes ?? usualNodes(nodeTotal, whatIf.mostUseful))];
  const measured = await measuredWalls(store, subject, nodes);
  if (!isRunning) measured.set(nodeTotal, (end - start) / 1000);
  return { subject, timeline: { kind, start, end, paused, isRunning }, whatIf, nodes, measured };
}

/** Numbers of nodes up to twice today's, or as many as are useful. */
export function usualNodes(today: number, mostUseful: number): number[] {
  const { playedVariants: count, playedNodes } = limits;
  const most = Math.min(playedNodes, Math.max(16, 2 * today, Math.min(mostUseful + 2, count)));
  if (most <= count) return Array.from({ length: most }, (_, i) => i + 1);
  const spread = Array.from({ length: count - 1 }, (_, i) => Math.round(1 + (i * (most - 1)) / (count - 2)));
  return [...new Set([...spread, today])].sort((a, b) => a - b);
}

async function knowledgeFor(
  { timings }: Store,
  { project, build: { branch } }: Subject,
  timeline: Timeline,
  { changes, expectedPullCost }: WhatIfSubject,
): Promise<Omit<Knowledge, 'nodeTotal'>> {
  const cases = new Map<string, readonly number[]>();
  for (const path of changes.cut) {
    const times = await timings.cases(project, branch, path);
    if (times.length > 1) cases.set(path, times);
  }
  const { kind, files } = timeline;
  if ((changes.estimates ?? usualEstimatesOf(timeline)) !== 'now') return { now: null, cases, expectedPullCost };
  const list = suiteOf(files.paths);
  const known = await timings.estimates(project, branch, list, limits.testCasesPerRequest);
  const isQueue = changes.mode === 'queue' || (changes.mode === null && kind === 'queue');
  const today = estimate(list, known, isQueue ? QUEUE_PERCENTILE : SPLIT_PERCENTILE);
  const seconds = new Map(Array.from(today.weights, (weight, i) => [pathOf(today, i), toSeconds(weight)]));
  return { now: { seconds, isGuessed: unknownFiles(today.seconds) > list.length / 2 }, cases, expectedPullCost };
}

/** The wall times of the newest builds of the branch with these numbers of nodes, if they are about as old. */
async function measuredWalls({ builds, summaries }: Store, { project, build, recorded }: Subject, nodes: readonly number[]) {
  const walls = new Map<number, number>();
  if (!recorded) return walls;
  for (const node_total of nodes) {
    if (node_total === build.node_total) continue;
    const other = await builds.newest(project, { branch: build.branch, node_total });
    const summary = other && isNear(other, recorded) ? await summaries.get(other.number) : null;
    if (summary) walls.set(node_total, summary.wall / 1000);
  }
  return walls;
}

function isNear(a: Build, b: Build): boolean {
  return Math.abs(a.created_at - b.created_at) <= limits.measuredBuildMilliseconds;
}
