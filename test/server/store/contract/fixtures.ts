import { buildState } from '../../../../src/protocol/build-state.js';
import type { Caller } from '../../../../src/server/engine/caller.js';
import type { BuildKey, NodeKey, QueueKey, SplitKey } from '../../../../src/server/engine/keys.js';
import type { CaseReport } from '../../../../src/server/engine/pieces/case-report.js';
import type { Build } from '../../../../src/server/engine/ports/builds.js';
import type { SparedCiRun } from '../../../../src/server/engine/ports/ci-runs.js';
import type { BuildFailures } from '../../../../src/server/engine/ports/failures.js';
import type { ExpiringKind } from '../../../../src/server/engine/ports/maintenance.js';
import type { NewQueue } from '../../../../src/server/engine/ports/queues.js';
import type { Recorded } from '../../../../src/server/engine/ports/recordings.js';
import type { NewSplit } from '../../../../src/server/engine/ports/splits.js';
import type { Millis, Store } from '../../../../src/server/engine/ports/store.js';
import type { Summary } from '../../../../src/server/engine/ports/summaries.js';
import type { Batch, Pull } from '../../../../src/server/engine/queue/batch.js';
import { settle as settleBatch } from '../../../../src/server/engine/queues.js';
import { newRun } from '../../../../src/server/engine/recordings.js';
import type { TestFileList } from '../../../../src/server/engine/suites/compare-lists.js';
import type { Suite } from '../../../../src/server/engine/suites/suite.js';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { BASIS_BYTES, encodeBasis } from '../../../../src/server/planning/estimating/basis.js';
import { type Estimates, pathOf } from '../../../../src/server/planning/estimating/estimate.js';
import { forecast } from '../../../../src/server/planning/forecasting/forecast.js';
import { encodeFiles } from '../../../../src/server/store/codecs/file-blocks.js';
import { plannedPaths } from '../../../harness/planned-paths.js';
import { waitingCaller, whenSaved } from '../../../testbed/waiting.js';

export const NOW = Date.UTC(2026, 0, 1);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const BUILD: BuildKey = { commit_hash: 'abc', branch: 'main', node_total: 4 };

/** Seconds by path. */
export type Times = Record<string, number>;

export async function newProject(store: Store, name = 'web'): Promise<number> {
  const project = await store.access.createProject(name, `hash of ${name}`, NOW);
  return project!.id;
}

export interface Recording extends Partial<NodeKey>, Partial<Caller> {
  at?: Millis;
  ci_build_id?: string;
}

/** Records a run of a node, by default of node 0 of BUILD. */
export function record(store: Store, project: number, times: Times, recording: Recording = {}): Promise<Recorded> {
  const { at = NOW, isRetry = false, hasLeft = waitingCaller.hasLeft, ci_build_id, ...key } = recording;
  const files = Object.entries(times).map(([path, time_execution]) => ({ path, time_execution }));
  const node = { ...BUILD, node_index: 0, ...key };
  return whenSaved(store.recordings.record(project, node, newRun(files, ci_build_id), { isRetry, hasLeft }, at));
}

/** Test files with a time of a second each. */
export function files(count: number): Times {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`spec/${i}_spec.rb`, 1]));
}

/** The newest builds of a project. */
export async function buildsOf(store: Store, project: number): Promise<Build[]> {
  return store.builds.list(project, {}, { limit: 100 });
}

/** Returns the known seconds of each path; null: none are known. */
export async function secondsOf(
  store: Pick<Store, 'timings'>,
  project: number,
  paths: readonly string[],
  branch = 'main',
): Promise<(number | null)[]> {
  const list = suiteOf(paths);
  const { seconds } = await store.timings.estimates(project, branch, list, 100_000);
  const times = paths.map(path => seconds[list.indexOf(path)]!);
  return times.map(time => (Number.isNaN(time) ? null : time));
}

/** Sweeps to the end. Returns how many records were deleted, by kind. */
export async function sweep(store: Store, before: Millis, deletedBefore: Millis = 0): Promise<Partial<Record<ExpiringKind, number>>> {
  const deleted: Partial<Record<ExpiringKind, number>> = {};
  for await (const _ of store.maintenance.sweep({ before, deletedBefore }, kind => (deleted[kind] = (deleted[kind] ?? 0) + 1)));
  return deleted;
}

export const LIST: TestFileList = { digest: 'digest of a list', test_files: 3 };

/** Test files of two seconds each, the last one of them never measured. */
export function estimates(count: number): Estimates<Suite> {
  const paths = Array.from({ length: count }, (_, i) => `spec/größe_${i}_spec.rb`);
  return {
    ...plannedPaths(paths),
    seconds: new Float64Array(count).fill(2).fill(NaN, count - 1),
    weights: new Float64Array(count).fill(20_000),
    basis: new Uint8Array(BASIS_BYTES * count).fill(1),
  };
}

/** Returns some of these files as the store encodes them. */
export function planned(count: number, files: readonly number[]): { path: string; time_execution: number | null }[] {
  const plan = estimates(count);
  const { seconds } = plan;
  return files.map(file => ({ path: pathOf(plan, file), time_execution: Number.isNaN(seconds[file]) ? null : seconds[file]! }));
}

export const FORECAST = forecast(estimates(3), 4, { makespan: 20_000, lowerBound: 20_000, isBoundByFile: false });

/** A split, by default one in which each node has one file. */
export function newSplit(
  { build: { node_total } }: SplitKey,
  list = LIST,
  plan = estimates(node_total),
  nodes = upTo(node_total).map(node => [node]),
): NewSplit {
  const planned = Uint32Array.from(nodes.flat());
  return { list, files: encodeFiles(plan, planned), basis: encodeBasis(plan, planned), nodeEnds: endsOf(nodes), forecast: FORECAST };
}

/** Where the files of each node of a split end. */
function endsOf(nodes: readonly (readonly number[])[]): Uint32Array {
  let end = 0;
  return Uint32Array.from(nodes, ({ length }) => (end += length));
}

export function newQueue(files: number | Estimates<Suite>, list = LIST): NewQueue {
  const plan = typeof files === 'number' ? estimates(files) : files;
  const { weights } = plan;
  return {
    list,
    files: encodeFiles(plan),
    weights,
    basis: encodeBasis(plan),
    guessed: false,
    learned: null,
    cuts: null,
    first: null,
    forecast: FORECAST,
  };
}

/** Pulls for a node. Resolves with null if no file is left for it or there is no queue. */
export async function pull(
  store: Pick<Store, 'queues'>,
  key: QueueKey,
  node_index: number,
  more: Partial<Pull> = {},
  at = NOW,
): Promise<Batch | null> {
  const request: Pull = {
    node_index,
    run: key.digest,
    batch_uuid: null,
    isRetry: false,
    isFirstRequest: false,
    wantsLastSplit: false,
    recordedRunId: null,
    hasLeft: () => false,
    ...more,
  };
  const pulling = store.queues.update(
    key,
    () => null,
    ({ queue }, _, mayWait) => {
      if (mayWait && queue.lacksNote(request)) return { value: null, changes: [], lacksNote: true };
      const handed = queue.pull(request, at);
      const changes = [...queue.takeChanged(), ...(handed?.isNew ? [handed.batch] : [])];
      return { value: handed?.batch ?? null, changes };
    },
    at,
  );
  return whenSaved(pulling);
}

/** Notes that the answer with a batch was written, or that the node left before that. */
export async function settle(store: Pick<Store, 'queues'>, key: QueueKey, { seq }: Batch, isWritten: boolean): Promise<void> {
  await settleBatch(store, key, seq, isWritten, NOW);
}

/** Pulls for a node until the queue is empty. Returns the files in the order in which they were handed out. */
export async function pullAll(store: Pick<Store, 'queues'>, key: QueueKey, node_index: number, hasUuids = true): Promise<number[]> {
  const handed: number[] = [];
  for (let pulls = 0; ; pulls++) {
    const batch = await pull(store, key, node_index, { batch_uuid: hasUuids ? `${node_index} ${pulls}` : null });
    if (!batch) return handed;
    await settle(store, key, batch, true);
    handed.push(...batch.files);
  }
}

/** A client's report on the cases of a file. */
export function caseReport(report: Partial<CaseReport> = {}): CaseReport {
  const cases = [
    { name: 'größe "a"', seconds: 1, outcomes: { passed: 1 } },
    { name: 'b\n', seconds: 2, outcomes: { failed: 1, skipped: 2 } },
  ];
  return {
    ...{ file: 'spec/a_spec.rb', piece: null, ci_run: 'run', commit_hash: 'abc', runner: 'pytest', seconds: 4, cases, passed_whole: [] },
    ...report,
  };
}

export const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** A CI run that another one has proved, which saved 90 seconds. */
export function sparedCiRun(spared: Partial<SparedCiRun> = {}): SparedCiRun {
  return { commit_hash: 'def', branch: 'main', ci_run: '9', asked_at: NOW + DAY, seconds: 90, ...spared };
}

/** What failed in a build: a flaky file, one that never passed, and an outage of a node. */
export function buildFailures(failures: Partial<BuildFailures> = {}): BuildFailures {
  return {
    at: NOW,
    outages: [
      { node_index: 3, files: 12 },
      { node_index: null, files: 70_000 },
    ],
    files: [
      { path: 1, isFlaky: true, node_index: 9999, before: 7, slowdown: 1.25, cases: ['größe: [\u2028]', 'b'], seconds: 90.25, later: 600 },
      { path: 2, isFlaky: false, node_index: 0, before: null, slowdown: null, cases: [], seconds: 0, later: 0 },
    ],
    ...failures,
  };
}

/** The summary of a build that took 100 seconds on two nodes, and ended as its line says. */
export function summaryOf({ line, ...part }: Partial<Omit<Summary, 'line'>> & { line?: Partial<Summary['line']> } = {}): Summary {
  const whole: Summary['line'] = {
    kind: 'queue',
    wall: 100,
    floor: 80,
    idle_share: 0.045,
    files: 12,
    failed: null,
    missing: 0,
    longest: { path: 'spec/größe_spec.rb', seconds: 40 },
    last: { node_index: 1, seconds: 1.5 },
    decided_by: null,
    saved: 5,
    ...line,
  };
  return {
    recorded: 2,
    started_at: NOW,
    state: buildState({ ...whole, isRunning: false, wasCancelled: false, hasEveryNode: true }),
    line: whole,
    failed_files: [],
    parts: { even_share: 80, longest_file: 0, slow_nodes: 5, estimates: 5, late_starts: 4, unreported: 0, gaps: 3, repeats: 2, idle: 1 },
    node_seconds: 200,
    idle_seconds: 9,
    jobs: [
      [91, 1],
      [100, 1],
    ],
    ci_runs: 1,
    settled: { to: 0, ci_runs: 0, jobs: [] },
    test_seconds: 160,
    slowness: [1, 1.07, null],
    baselines: { round_robin: 120, by_name: 130, one_at_a_time: 105 },
    judgement: null,
    ...part,
  };
}
