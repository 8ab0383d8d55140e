import { rounded, wholeMilliseconds } from '../../../base/rounding.js';
import { timestamp } from '../../../base/time.js';
import type { FileHistory, FilePoint } from '../../../protocol/answers/trends.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { joinPieces } from '../../engine/pieces/join-pieces.js';
import { knownCases, READ_CASE_BYTES_PER_REQUEST } from '../../engine/pieces/known-cases.js';
import type { Build, Builds, RecordedPiece } from '../../engine/ports/builds.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { isOutOfDate } from '../../engine/ports/summaries.js';
import { outcomeOf } from '../../engine/test-file.js';
import { median } from '../../planning/estimating/median.js';
import { replay } from '../../planning/estimating/replay.js';
import { buildsWithFlaky } from '../flaky/known-flaky.js';
import { newestSubject } from '../subject.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import { readTimeline } from '../timeline/read-timeline.js';
import { whatIfOfRun } from '../what-if/prepare-what-if.js';
import { cutsFor, playVariants, type Scenario } from '../what-if/scenario.js';
import { AS_IT_WAS, playCuts } from '../what-if/what-if.js';
import { fileChanges } from './file-changes.js';
import { decidingPath, type LastOutcome, resultOf, type Trend, withSummaries } from './summary.js';

/** The last time that a build recorded for a file, in seconds. */
interface Time extends LastOutcome {
  build: Build;
  node_index: number;
  seconds: number;
  /** True if the file ran in pieces. */
  isCut: boolean;
  result: FilePoint['result'];
}

type TimeInBuild = Omit<Time, 'build' | 'result'>;

export interface FileHistorySubject {
  project: number;
  branch: string;
  path: string;
  now: Millis;
}

/** So many timelines are read to find a build to play: the newest builds may be running, or have pieces of which no more is known. */
const MOST_READ = 3;

/** A file over the last builds of a branch. */
export async function fileHistory(store: Store, subject: FileHistorySubject): Promise<Trend<FileHistory>> {
  const { project, branch, path } = subject;
  const { builds, timings } = store;
  const answer: FileHistory = {
    path,
    branch,
    estimate: null,
    median: null,
    points: [],
    changes: [],
    decided: [],
    failed: [],
    results: 0,
    cut: null,
    cut_saves: null,
    pieces: await piecesOf(store, subject),
  };
  const outdated: Build[] = [];
  const number = await builds.pathNumber(project, path);
  if (number === null) return { answer, outdated };
  const pieces = await builds.pieces(project, path);
  const flakyIn = await buildsWithFlaky(store, project, new Set([number, ...pieces.map(piece => piece.path)]));
  const [estimate] = await timings.ofPaths(project, branch, Uint32Array.of(number));
  answer.estimate = Number.isNaN(estimate) ? null : rounded(estimate!);
  const times: Time[] = [];
  let files = 0;
  let read = 0;
  const listed = await builds.list(project, { branch }, { limit: limits.trendBuilds });
  for (const { build, summary } of await withSummaries(store, listed)) {
    files += build.test_files;
    if (files > limits.trendTestFiles && files > build.test_files) break;
    const run = await lastTime(builds, build, number, pieces);
    const isOld = isOutOfDate(build, summary);
    const result = isOld ? null : flakyIn.has(build.number) ? 'flaky' : resultOf(summary!, path, run);
    if (result !== null) answer.results += 1;
    if (result !== null && result !== 'passed') answer.failed.push({ ...inBuild({ build, at: build.created_at }), result });
    if (isOld) outdated.push(build);
    if (!run) continue;
    times.push({ build, ...run, result });
    if (decidingPath(summary) === path)
      answer.decided.push({ ...inBuild({ build, at: build.created_at }), seconds: summary!.line.last?.seconds ?? 0 });
    if (answer.cut !== null || read === MOST_READ || summary?.state === 'running') continue;
    read += 1;
    const played = await playCut(store, build, subject);
    if (played) [answer.cut, answer.cut_saves] = [played.cut, played.saves];
  }
  times.reverse();
  const durations = times.map(({ seconds }) => seconds);
  if (times.length > 0) answer.median = rounded(median(durations));
  const expected = replay(times);
  answer.points = times.map((time, i): FilePoint => {
    const before = expected[i] ?? null;
    return {
      ...inBuild(time),
      node_index: time.node_index,
      seconds: rounded(time.seconds),
      estimate: before && rounded(before.estimate),
      low: before && rounded(before.low),
      high: before && rounded(before.high),
      result: time.result,
    };
  });
  const wereCut = times.map(({ isCut }) => isCut);
  answer.changes = fileChanges(durations, wereCut).map(({ index, before, after }) => {
    return { ...inBuild(times[index]!), factor: rounded(after / before), before: rounded(before), after: rounded(after) };
  });
  return { answer, outdated };
}

function inBuild({ build, at }: Pick<Time, 'build' | 'at'>) {
  return { build_id: build.id, commit_hash: build.commit_hash, at: timestamp(at) };
}

/** The last time of the file, or of its pieces together. Null: the build recorded none. */
async function lastTime(builds: Builds, { number }: Build, file: number, pieces: readonly RecordedPiece[]): Promise<TimeInBuild | null> {
  const newestFirst = (await builds.runs(number)).sort((a, b) => b.ordinal - a.ordinal);
  let outcome: LastOutcome['outcome'] = null;
  const ofPieces = new Map<number, RecordedPiece & TimeInBuild>();
  for (const head of newestFirst) {
    const run = await builds.times(number, head);
    const timeOf = (path: number) => {
      const seconds = run?.seconds[run.paths.indexOf(path)] ?? 0;
      return seconds > 0 ? { at: head.created_at, outcome, node_index: head.node_index, seconds, isCut: false } : null;
    };
    // It may have failed later in no time, when it could not be loaded.
    outcome ??= outcomeOf(run?.outcomes[run.paths.indexOf(file)] ?? 0);
    const whole = timeOf(file);
    if (whole) return whole;
    for (const piece of pieces) {
      const time = ofPieces.has(piece.path) ? null : timeOf(piece.path);
      if (time) ofPieces.set(piece.path, { ...piece, ...time });
    }
    const [last] = ofPieces.values();
    const [seconds] = joinPieces(ofPieces.values()).values();
    if (last && seconds !== undefined) return { ...last, seconds, isCut: true };
  }
  return null;
}

/** Reads the known cases of the file; null: no client reported any. */
async function piecesOf({ cases }: Store, { project, path }: FileHistorySubject): Promise<FileHistory['pieces']> {
  const found = await cases.of(project, path, READ_CASE_BYTES_PER_REQUEST);
  const known = found && knownCases(found.kept);
  if (!known) return null;
  const { runner, isProven, isCut, notCut } = known;
  const count = found.kept.find(({ piece }) => piece !== null)?.piece?.count ?? null;
  return { cases: known.cases.length, runner, count: isCut ? count : null, is_proven: isProven, not_cut: notCut };
}

/**
 * Gain of running a file in pieces, as What-if plays a build: the time that this build saved because the file ran in pieces, or would have saved.
 * Null: the build cannot be played, or it is running.
 */
async function playCut(store: Store, build: Build, { path, now }: FileHistorySubject) {
  const subject = await newestSubject(store, build);
  const timeline = await readTimeline(store, subject, now);
  const { length: nodes } = countedNodes(timeline);
  if (nodes > limits.playedNodes || timeline.is_running || !timeline.paths.some(listed => fileOfPiece(listed) === path)) return null;
  const playing = { changes: AS_IT_WAS, candidates: [path], expectedPullCost: 0 };
  const { scenario, candidates } = await whatIfOfRun(store, subject, timeline, playing);
  const [candidate] = candidates;
  if (!candidate) return null;
  const wallOf = (played: Scenario) => playVariants(played, [nodes])[0]!.wall;
  const done = cutsFor(scenario, nodes).find(({ file }) => file === candidate.file);
  const [whole, cut] = done
    ? [wallOf({ ...scenario, cuttable: scenario.cuttable.filter(({ file }) => file !== candidate.file) }), wallOf(scenario)]
    : [wallOf(scenario), playCuts(scenario, nodes, [candidate])[0]!];
  const { parts } = done ?? candidate;
  return { saves: wholeMilliseconds(whole - cut), cut: { build_id: build.id, pieces: parts.length, is_done: done !== undefined } };
}
