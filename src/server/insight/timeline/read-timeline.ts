import type { LearnedCost } from '../../../protocol/answers/minutes.js';
import { buildState } from '../../../protocol/build-state.js';
import { boundedRuns } from '../../engine/builds.js';
import { UNNAMED_CI_RUN } from '../../engine/keys.js';
import { beginningOf, isAfter } from '../../engine/moment.js';
import { decodeFiles } from '../../engine/planned-files.js';
import type { Run, RunHead } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { Plans } from '../../engine/ports/plans.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { type Batch, decisionOf, takenFiles } from '../../engine/queue/batch.js';
import { batchesOf } from '../../engine/queues.js';
import { expectedCost } from '../../planning/batching/batch-cost.js';
import { decodeBasis } from '../../planning/estimating/basis.js';
import { mean } from '../../planning/estimating/median.js';
import { toWeight, WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import type { Subject } from '../subject.js';
import { millisecondsIn, SILENT_MILLISECONDS } from './draft-span.js';
import { FileColumns } from './file-columns.js';
import { cutPauses } from './pauses.js';
import { type Lanes, queueLanes } from './queue-lanes.js';
import { recordedCost, toLearnedCost } from './recorded-batches.js';
import { recordedLanes } from './recorded-lanes.js';
import { type NodeLane, type Timeline, withTimes } from './timeline.js';

/** Reads the lanes of the nodes of a CI run. Throws a 422 when its recorded runs do not fit in memory. */
export async function readTimeline(store: Store, subject: Subject, now: Millis): Promise<Timeline> {
  const { ciRun } = subject;
  const runs = await runsOf(store, subject);
  const planned = ciRun && (await (ciRun.kind === 'queue' ? ofQueue : ofSplit)(store, ciRun, runs, now));
  return planned ?? ofRecordings(subject, runs, now);
}

/** The recorded runs of a CI run, by node and in the order of recording. */
async function runsOf({ builds }: Store, { recorded, ciRun, next }: Subject): Promise<Run[]> {
  if (!recorded) return [];
  const heads = (await builds.runs(recorded.number)).filter(head => !ciRun || isOf(ciRun, next, head));
  const runs: Run[] = [];
  for await (const run of boundedRuns(builds, recorded, heads)) runs.push(run);
  return runs.sort((a, b) => a.node_index - b.node_index || a.run - b.run);
}

/** Reports whether a run belongs to a CI run: it names this one, or none while this one was the newest of its build. */
export function isOf(ciRun: CiRun, next: CiRun | null, run: RunHead): boolean {
  if (!isAfter(run, beginningOf(ciRun))) return false;
  if (ciRun.ci_run !== UNNAMED_CI_RUN && run.ci_run !== 0) return run.ci_run === ciRun.digest;
  return !next || !isAfter(run, beginningOf(next));
}

/** Null: the queue has expired. */
async function ofQueue({ plans, queues }: Store, { plan, node_total, created_at: beganAt }: CiRun, runs: readonly Run[], now: Millis) {
  const weights = await plans.part(plan, 'weights');
  const files = weights && (await plans.files(plan, Array.from(weights.keys())));
  if (!weights || !files) return null;
  const columns = new FileColumns();
  for (const [i, { path, time_execution }] of decodeFiles(files).entries())
    columns.plan(path, weights[i]! / WEIGHTS_PER_SECOND, time_execution === null);
  const { own: batches } = await batchesOf(queues, plan);
  const costs = batches.flatMap(batch => costOf(batch) ?? []);
  const cost = costs.at(-1) ?? null;
  columns.cost = cost;
  const lanes = queueLanes({ nodeTotal: node_total, batches, runs, beganAt }, columns, now);
  const lastAt = lastOf(runs, Math.max(beganAt, batches.at(-1)?.handed_at ?? beganAt));
  const isWaiting = !lanes.isCancelled && takenFiles(batches, weights.length).includes(0);
  const timeline = toTimeline('queue', lanes, columns, { beganAt, waitsFor: isWaiting ? patienceSince(lastAt, now) : null });
  const read = { ...timeline, expectedCost: costs[0] ?? null, cost };
  if (read.is_running) return read;
  // What a queue learns while it runs rests on estimates. The recorded times tell more.
  return { ...read, cost: recordedCost(read) ?? cost };
}

/** Null: the planner did not size the batch. */
function costOf(batch: Batch): LearnedCost | null {
  const decision = decisionOf(batch);
  return decision && { pull_cost: decision.pull_cost, hidden: decision.hidden, slowdown: decision.slowdown };
}

/** Null: the split has expired. */
async function ofSplit(
  { plans, queues }: Store,
  { project, plan, node_total, created_at: beganAt }: CiRun,
  runs: readonly Run[],
  now: Millis,
) {
  const parts = await splitParts(plans, plan, node_total);
  if (!parts) return null;
  const columns = new FileColumns();
  const planned = parts.map(files => files.map(({ path, seconds, isGuess }) => columns.plan(path, seconds, isGuess)));
  const lanes = recordedLanes({ nodeTotal: node_total, planned, runs, beganAt }, columns, now);
  const timeline = toTimeline('split', lanes, columns, { beganAt, waitsFor: null });
  const areStartsKnown = !timeline.is_running && runs.every(({ asked_at }) => asked_at !== null);
  const learned = areStartsKnown ? await queues.learned(project, 'split') : null;
  if (!learned) return { ...timeline, areStartsKnown };
  const meanWeight = mean(columns.estimates.map(each => toWeight(each ?? 0)));
  const cost = toLearnedCost(expectedCost({ setting: null, meanWeight, isGuessed: false, learned }));
  return { ...timeline, areStartsKnown, cost };
}

function ofRecordings({ build, ciRun }: Subject, all: readonly Run[], now: Millis): Timeline {
  const columns = new FileColumns();
  const runs = ciRun ? all : lastCiRunIn(all);
  const lanes = recordedLanes({ nodeTotal: build.node_total, planned: [], runs, beganAt: null }, columns, now);
  const lastAt = lastOf(runs, -Infinity);
  const isWaiting = lanes.nodes.some(({ start }) => start === null);
  const firstAt = runs.reduce((first, run) => Math.min(first, run.created_at - millisecondsIn(run)), now);
  const beganAt = ciRun?.created_at ?? firstAt;
  return toTimeline('recordings', lanes, columns, { beganAt, waitsFor: isWaiting ? patienceSince(lastAt, now) : null });
}

/**
 * The runs of the newest CI run among all runs of a build, of which no queue and no split is known. Runs that name a CI run belong to it.
 * Otherwise a CI run begins again when a node records after all nodes had recorded.
 */
function lastCiRunIn(runs: readonly Run[]): readonly Run[] {
  const ordered = [...runs].sort((a, b) => a.ordinal - b.ordinal);
  const last = ordered.at(-1);
  if (!last) return runs;
  const own = ordered.filter(({ ci_run }) => ci_run === last.ci_run);
  if (last.ci_run !== 0) return runs.filter(run => own.includes(run));
  const nodes = new Set(own.map(({ node_index }) => node_index)).size;
  let began = 0;
  let seen = new Set<number>();
  for (const [i, { node_index }] of own.entries()) {
    if (seen.size === nodes) {
      seen = new Set();
      // The retry of one node alone is no CI run of its own.
      if (new Set(own.slice(i).map(run => run.node_index)).size === nodes) began = i;
      else break;
    }
    seen.add(node_index);
  }
  const kept = new Set(own.slice(began));
  return runs.filter(run => kept.has(run));
}

/** When the last run was recorded, or a time if that is later. */
function lastOf(runs: readonly Run[], at: Millis): Millis {
  return runs.reduce((last, { created_at }) => Math.max(last, created_at), at);
}

/** For how long a node may still come after the last request or recording; null: it is too late. */
function patienceSince(lastAt: Millis, now: Millis): Millis | null {
  const left = lastAt + SILENT_MILLISECONDS - now;
  return left < 0 ? null : left;
}

interface Extent {
  beganAt: Millis;
  /** For how long the build runs although no node is at work; null: it does not. */
  waitsFor: Millis | null;
}

function toTimeline(kind: Timeline['kind'], lanes: Lanes, columns: FileColumns, { beganAt, waitsFor }: Extent): Timeline {
  const steadyFor = Math.min(lanes.steadyFor, waitsFor ?? Infinity);
  const isRunning = steadyFor < Infinity;
  const { nodes, paused } = cutPauses(endedWithFiles(lanes.nodes));
  const starts = nodes.flatMap(({ start }) => start ?? []);
  // A split is first used by the first node that begins.
  const start = kind === 'split' || starts.length === 0 ? Math.min(beganAt, ...starts) : Math.min(...starts);
  const end = Math.max(start, ...(isRunning ? [lanes.now - paused] : []), ...nodes.flatMap(({ end: at }) => at ?? []));
  const { paths, estimates, is_guess } = columns;
  const files = { paths, estimates, is_guess, nodes: nodes.map(lane => withTimes(lane, time => (time - start) / 1000)) };
  const { missing, failed, flaky } = fileOutcomes(files, 0);
  if (flaky.length > 0) markFlaky(files, new Set(flaky.map(({ path }) => path)));
  const state = buildState({
    ...{ kind, isRunning, wasCancelled: lanes.isCancelled, missing: missing.length },
    failed: failed === null ? null : failed.filter(({ is_muted }) => !is_muted).length,
    hasEveryNode: nodes.every(({ recordedAt }) => recordedAt !== null),
  });
  return {
    ...{ areStartsKnown: kind === 'queue', expectedCost: null, cost: null },
    ...{ kind, started_at: start, wall: (end - start) / 1000, paused: paused / 1000, steadyFor, is_running: isRunning, state },
    ...files,
  };
}

/** Marks these files where they failed. A node that is cancelled reports what it did not run. */
function markFlaky({ nodes, paths }: Pick<Timeline, 'nodes' | 'paths'>, flaky: ReadonlySet<string>): void {
  for (const { spans } of nodes)
    for (const span of spans) {
      const own = span.lease === 'cancelled' ? [] : (span.failed ?? []).filter(file => flaky.has(paths[file]!));
      if (own.length > 0) (span.flaky ??= []).push(...own);
    }
}

/** The lanes, of which none ends after all files: a node that came when no file was left and recorded nothing lengthens no build. */
function endedWithFiles(lanes: readonly NodeLane[]): readonly NodeLane[] {
  const hadFiles = ({ spans }: NodeLane) => spans.some(({ files }) => files.length > 0);
  const last = lanes.reduce((end, lane) => (hadFiles(lane) ? Math.max(end, lane.end ?? end) : end), -Infinity);
  return last === -Infinity ? lanes : lanes.map(lane => (hadFiles(lane) ? lane : withTimes(lane, time => Math.min(time, last))));
}

/** A file of a split. */
export interface SplitFile {
  path: string;
  /** Seconds that the file was planned with, guessed or not. */
  seconds: number;
  isGuess: boolean;
}

/** The files of each node of a split. Null: the split has expired. */
export async function splitParts(plans: Plans, split: string, nodeTotal: number): Promise<SplitFile[][] | null> {
  const parts: SplitFile[][] = [];
  for (let node = 0; node < nodeTotal; node++) {
    const files = await plans.files(split, node);
    if (!files) return null;
    parts.push(decodeFiles(files).map(({ path, time_execution: time }) => ({ path, seconds: time ?? 0, isGuess: time === null })));
  }
  const basis = await plans.part(split, 'basis');
  if (!basis) return null;
  const all = parts.flat();
  const { guesses } = decodeBasis(basis, all.length);
  for (const [i, file] of all.entries()) if (file.isGuess) file.seconds = guesses[i]!;
  return parts;
}
