import { timestamp } from '../../base/time.js';
import type { ProofAnswer, ProvingCiRun } from '../../protocol/answers/proof.js';
import type { TestPathsAnswer } from '../../protocol/messages/queue.js';
import type { LastDistribution } from '../../protocol/messages/split.js';
import { settingsOf } from '../engine/access.js';
import { boundedRuns, mergeRuns, uncutSince } from '../engine/builds.js';
import type { CompletenessSubject } from '../engine/completeness/assigned.js';
import { compareCiRun } from '../engine/completeness/completeness.js';
import type { BuildFilter, ProjectBuild } from '../engine/keys.js';
import type { Build, ListPart } from '../engine/ports/builds.js';
import type { QueueInfo } from '../engine/ports/queues.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { type ProofQuestion, prove } from '../engine/proof/proof.js';
import { type ReceiptQuestion, signedReceipt } from '../engine/proof/receipt.js';
import { type AskingCiRun, isSpared } from '../engine/proof/spared.js';
import { failedPaths } from '../engine/queues.js';
import { POOLED_TEST_FILES } from '../engine/suites/plan-suite.js';
import { linksOf } from '../insight/build-links.js';
import { comparisonOf } from '../insight/comparison/comparison.js';
import { flakyFiles, flakyNow } from '../insight/flaky/flaky-files.js';
import { markKnownFlaky } from '../insight/flaky/known-flaky.js';
import { forecastOf } from '../insight/forecast.js';
import { explainMinutes } from '../insight/minutes/explained-minutes.js';
import { addFailedCases } from '../insight/minutes/failed-cases.js';
import { fileOutcomes } from '../insight/minutes/file-outcomes.js';
import { sparedBy } from '../insight/spared.js';
import type { Subject } from '../insight/subject.js';
import { otlpTrace } from '../insight/timeline/otlp.js';
import { readTimeline } from '../insight/timeline/read-timeline.js';
import { timelineAnswer } from '../insight/timeline/timeline.js';
import { traceAnswer } from '../insight/timeline/trace.js';
import { buildLines, type LineOrder, type LinesRequest, sortedLines } from '../insight/trends/build-lines.js';
import { buildSummary } from '../insight/trends/build-summary.js';
import { fileHistory } from '../insight/trends/file-history.js';
import { fileTrends } from '../insight/trends/file-trends.js';
import { flagsOf } from '../insight/trends/flags.js';
import { nodeTrends } from '../insight/trends/node-trends.js';
import { similarNames } from '../insight/trends/similar.js';
import type { Trend } from '../insight/trends/summary.js';
import { buildsToPlay, prepareBuild } from '../insight/what-if/node-counts.js';
import { prepareWhatIf } from '../insight/what-if/prepare-what-if.js';
import { playVariants, type Scenario } from '../insight/what-if/scenario.js';
import { type Candidate, playCuts } from '../insight/what-if/what-if.js';
import { type WhyFilter, why } from '../insight/why/why.js';
import { BASIS_BYTES } from '../planning/estimating/basis.js';
import { buildAnswer, buildOutline, buildPiece } from './build-pieces.js';

/** The slowest files that the minutes of a build list. */
const SLOW_FILES = 20;

/** A build with at least this many planned and recorded test files is read in a worker thread: 1,000 take 7 ms. */
const POOLED_INSIGHT_FILES = 250;

/** Answers that are built from many records, and simulations. */

/** JSON. From a worker thread it comes as bytes. */
export type Json = string | Uint8Array;

export interface CompletenessJson {
  isComplete: boolean;
  json: Json;
}

/** A trend, and the builds whose summaries are to be written before it is read again. */
export interface TrendJson {
  json: Json;
  outdated: ProjectBuild[];
}

/** An answer about a CI run, and for how long only the clock changes it, if nothing else happens; Infinity: it is final, or nobody asks again. */
export interface InsightJson {
  json: Json;
  steadyFor: Millis;
}

/** What grows with the clock in an answer about a running build, such as the time of its nodes, is never older than this. */
const CLOCK_MILLISECONDS = 30_000;

/** A question about a CI run. */
export interface InsightQuestion {
  subject: Subject;
  filter: InsightFilter;
  now: Millis;
}

/** A choice of the answer: parts of `why`, or the format of `trace`. */
export interface InsightFilter extends WhyFilter {
  format?: 'chrome' | 'otlp';
}

export interface BuildsQuestion {
  project: number;
  filter: BuildFilter;
  part: ListPart;
}

export interface LinesQuestion {
  project: number;
  request: LinesRequest;
  /** Null: newest first. */
  order: LineOrder | null;
  now: Millis;
}

const insightJson = (answer: object, steadyFor: Millis): InsightJson => ({ json: JSON.stringify(answer), steadyFor });
/** @param answer has figures that grow with the clock */
const clockJson = (answer: { is_running: boolean }) => insightJson(answer, answer.is_running ? CLOCK_MILLISECONDS : Infinity);

const trend =
  <Asked>(read: (store: Store, asked: Asked) => Promise<Trend<object>>) =>
  async (store: Store, asked: Asked): Promise<TrendJson> => {
    const { answer, outdated } = await read(store, asked);
    return { json: JSON.stringify(answer), outdated };
  };

/** An answer about a proof, without what only the request knows. */
interface ProofJson extends Omit<ProofAnswer, 'about' | 'ci_run'> {
  ci_run: Omit<ProvingCiRun, 'url'> | null;
}

export const reads = {
  /** Reports whether every test file of a CI run is recorded. */
  async completeness(store: Store, subject: CompletenessSubject): Promise<CompletenessJson> {
    const { answer } = await compareCiRun(store, subject);
    return { isComplete: answer.is_complete, json: JSON.stringify(answer) };
  },

  /** Finds a CI run that proves that a list of files passed in a tree, and tells whether it spares the one that asks its tests. */
  async proof(
    store: Store,
    { asking, ...question }: ProofQuestion & { asking: AskingCiRun | null },
  ): Promise<{ proof: ProofJson; isSpared: boolean }> {
    const { reason, ciRun, ended, missingKeys } = await prove(store, question);
    const counts = ended && {
      nodes: ended.nodes.length,
      node_seconds: ended.seconds,
      test_files: ended.test_files,
      skipped: ended.skipped,
      flaky: [...ended.flaky.paths],
    };
    const ci_run = ciRun && {
      ...{ ci_run_id: ciRun.id, ci_run: ciRun.ci_run, commit_hash: ciRun.commit_hash, branch: ciRun.branch },
      started_at: timestamp(ciRun.created_at),
      ...(counts ?? { nodes: null, node_seconds: null, test_files: null, skipped: null, flaky: null }),
    };
    const proof = { is_proved: reason === null, reason, ci_run, missing_keys: missingKeys };
    return { proof, isSpared: proof.is_proved && asking !== null && (await isSpared(store, question, asking)) };
  },

  /** Signs how the test files of a CI run ended. Throws a 422 that says why that is not known. */
  async receipt(store: Store, question: ReceiptQuestion): Promise<{ json: Json }> {
    return { json: JSON.stringify(await signedReceipt(store, question)) };
  },

  /** The test files that all nodes and retries of a build recorded. Throws a 422 when they are too many to merge. */
  async recordedDistribution(store: Store, build: Build): Promise<{ json: Json }> {
    const { builds } = store;
    const runs = boundedRuns(builds, build, await builds.runs(build.number));
    const test_files = await mergeRuns(runs, await uncutSince(store, build));
    const total = test_files.reduce((sum, file) => sum + file.time_execution, 0);
    // Absurdly large times may add up to infinity, which JSON does not have.
    const time_execution = Math.min(total, Number.MAX_VALUE);
    return { json: JSON.stringify({ build_distribution_id: build.id, time_execution, test_files } satisfies LastDistribution) };
  },

  /** The builds of a page of a list. */
  async pageOfBuilds({ builds }: Store, { project, filter, part }: BuildsQuestion): Promise<{ json: Json }> {
    return { json: JSON.stringify((await builds.list(project, filter, part)).map(buildAnswer)) };
  },

  /** The paths that failed in a queue. */
  async failedTestPaths(store: Store, queue: Pick<QueueInfo, 'id' | 'list'>): Promise<{ json: Json }> {
    return { json: JSON.stringify({ failed_paths: await failedPaths(store, queue) } satisfies TestPathsAnswer) };
  },

  /** Divides the wall time of a CI run into parts. Throws a 422 when its recorded runs do not fit in memory. */
  async minutes(store: Store, { subject, now }: InsightQuestion): Promise<InsightJson> {
    const settings = await settingsOf(store.access, subject.project);
    const links = await linksOf(store, subject, settings);
    const { ciRun } = subject;
    const planned = ciRun?.kind === 'queue' ? await store.plans.part(ciRun.plan, 'forecast') : null;
    const timeline = await readTimeline(store, subject, now);
    const outcomes = fileOutcomes(timeline, SLOW_FILES);
    await addFailedCases(store, subject, outcomes.failed ?? []);
    await markKnownFlaky(store, subject, outcomes.failed ?? []);
    return clockJson(explainMinutes(subject, timeline, outcomes, links, settings, planned?.cutting ?? null, await sparedBy(store, ciRun)));
  },

  /** Throws a 422 when the recorded runs of the CI run do not fit in memory. A page moves the ends of nodes at work by itself. */
  async timeline(store: Store, { subject, now }: InsightQuestion): Promise<InsightJson> {
    const timeline = await readTimeline(store, subject, now);
    return insightJson(timelineAnswer(subject, timeline), timeline.steadyFor);
  },

  /** Throws a 422 when the CI run has too many files. */
  async trace(store: Store, { subject, filter, now }: InsightQuestion): Promise<InsightJson> {
    const timeline = await readTimeline(store, subject, now);
    if (filter.format !== 'otlp') return insightJson(traceAnswer(subject, timeline), Infinity);
    const project = await store.access.project(subject.project);
    return insightJson(otlpTrace(subject, timeline, project?.name ?? ''), Infinity);
  },

  /** Forecasts a CI run. Throws a 404 when no plan is known. */
  async forecast(store: Store, { subject, now }: InsightQuestion): Promise<InsightJson> {
    return clockJson(await forecastOf(store, subject, now));
  },

  /** Why the nodes of a CI run got their files. */
  async why(store: Store, { subject, filter, now }: InsightQuestion): Promise<InsightJson> {
    return clockJson(await why(store, subject, filter, now));
  },

  buildSummary,

  /** Throws a 422 when recorded runs do not fit in memory. */
  comparison: trend(comparisonOf),
  fileTrends: trend(fileTrends),
  fileHistory: trend(fileHistory),
  nodeTrends: trend(nodeTrends),
  flakyFiles: trend(flakyFiles),
  /** A list of builds. One that is sorted, or has builds with failures only, may read many summaries. */
  buildLines: (store: Store, { project, request, order, now }: LinesQuestion) =>
    order ? sortedLines(store, project, request, order, now) : buildLines(store, project, request, now),
  similarNames,
  flags: flagsOf,
  flakyNow,
  buildOutline,
  buildPiece,
  prepareWhatIf,
  buildsToPlay,
  prepareBuild,
  playVariants: (_store: Store, { scenario, nodes }: { scenario: Scenario; nodes: readonly number[] }) => playVariants(scenario, nodes),
  playCuts: (_store: Store, { scenario, nodes, files }: { scenario: Scenario; nodes: number; files: readonly Candidate[] }) =>
    playCuts(scenario, nodes, files),
};

export type Reads = typeof reads;

/** Reports whether a CI run is read on the main thread, because that takes no longer than to ask a worker thread. */
export async function isSmallSubject({ plans }: Store, { ciRun, recorded, build }: Subject): Promise<boolean> {
  const basis = ciRun && (await plans.part(ciRun.plan, 'basis'));
  // The split or queue expired.
  if (ciRun && !basis) return false;
  // The plan has this many files or fewer, because a guess takes more bytes.
  const planned = (basis?.length ?? 0) / BASIS_BYTES;
  return planned + build.node_total + (recorded ? recorded.test_files + recorded.subsets : 0) < POOLED_INSIGHT_FILES;
}

/** Reports whether the runs of a build are read on the main thread, because that takes no longer than to ask a worker thread. */
export function isSmallBuild({ test_files, subsets }: Build): boolean {
  return test_files + subsets < POOLED_TEST_FILES;
}
