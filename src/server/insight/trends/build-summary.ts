import { missesFiles } from '../../../protocol/build-state.js';
import { withJobs } from '../../engine/days/job-times.js';
import type { ProjectBuild } from '../../engine/keys.js';
import type { BuildFailures } from '../../engine/ports/failures.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import type { Summary } from '../../engine/ports/summaries.js';
import { judgementToKeep } from '../../engine/proof/judgement.js';
import type { BatchSums } from '../../planning/batching/batch-cost.js';
import { failuresOfBuild } from '../flaky/failures-of-build.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import { minutesOf } from '../minutes/minutes.js';
import { lossesOf } from '../minutes/verdict.js';
import { newestSubject, type Subject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import { observedInTimeline } from '../timeline/recorded-batches.js';
import { jobsOf, type Timeline, wasMostlyGuessed } from '../timeline/timeline.js';
import { baselinesOf } from '../what-if/savings.js';
import { summarize } from './summary.js';

/** CI runs of a build whose jobs each summary reads: nobody runs a job of an older one again. */
const OPEN_CI_RUNS = 4;
/** The same of a build whose last summary did not count the older ones. Those that are still older count as free. */
const MOST_CI_RUNS = 20;

/** The summary of the newest CI run of a build, and what else is read of its timeline at the same time. */
export interface SummarizedBuild extends Pick<Subject, 'recorded' | 'ciRun'> {
  summary: Summary;
  /** What failed in its CI runs; null: nothing, or nothing is recorded. */
  failures: BuildFailures | null;
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
  const found = summarize(recorded, timeline, minutes, baselinesOf(timeline));
  const before = recorded && (await store.summaries.get(recorded.number));
  const jobs = await allJobs(store, subject, timeline, before, at);
  const judgement = ciRun && found.state !== 'running' ? await judgementToKeep(store, ciRun) : null;
  const summary = { ...found, ...jobs, judgement };
  const failures = await failuresOfBuild(store, subject, found.started_at);
  const losses = missesFiles(summary.state) ? lossesOf(timeline, minutes, fileOutcomes(timeline, 0).missing) : null;
  return { recorded, ciRun, summary, failures, observed: wasMostlyGuessed(timeline) ? observedInTimeline(timeline) : null, losses };
}

/** The jobs of all CI runs of a build. Those of older CI runs are taken from the summary before. */
async function allJobs(
  store: Store,
  subject: Subject,
  newest: Timeline,
  before: Summary | null,
  at: Millis,
): Promise<Pick<Summary, 'jobs' | 'ci_runs' | 'settled'>> {
  const { ciRuns } = subject;
  let { settled } = (ciRuns.length > OPEN_CI_RUNS ? before : null) ?? { settled: { to: 0, ci_runs: 0, jobs: [] } };
  const byCiRun = [jobsOf(newest)];
  for (const [i, ciRun] of ciRuns.slice(1, MOST_CI_RUNS).entries()) {
    if (ciRun.created_at <= settled.to) break;
    byCiRun.push(jobsOf(await readTimeline(store, { ...subject, ciRun, next: ciRuns[i]! }, at)));
  }
  const [open, old] = [byCiRun.slice(0, OPEN_CI_RUNS), byCiRun.slice(OPEN_CI_RUNS)];
  const plus = ({ ci_runs, jobs }: Pick<Summary, 'ci_runs' | 'jobs'>, more: readonly number[][]) => {
    const times = more.flat().map(seconds => [seconds, 1] as const);
    return { ci_runs: ci_runs + more.length, jobs: withJobs(jobs, times, 1) };
  };
  if (old.length > 0) settled = { to: ciRuns[OPEN_CI_RUNS]!.created_at, ...plus(settled, old) };
  return { ...plus(settled, open), settled };
}
