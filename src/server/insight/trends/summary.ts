import { wholeMilliseconds } from '../../../base/rounding.js';
import type { BuildLineSummary, FilePoint } from '../../../protocol/answers/trends.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import type { FileOutcome } from '../../../protocol/file-outcome.js';
import { fileOfPiece, filesAmong } from '../../../protocol/piece-path.js';
import type { ProjectBuild } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import type { Summary } from '../../engine/ports/summaries.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import { decidingFile, lastNode, leastDelay } from '../minutes/last-node.js';
import type { Minutes } from '../minutes/minutes.js';
import type { Timeline } from '../timeline/timeline.js';

/** The pause after a summary, as a multiple of the time that it took: summaries take at most a fifth of a core. */
export const SUMMARY_PAUSE_FACTOR = 4;

/** The files that failed in a build whose paths its summary keeps. */
export const FAILED_FILES = 100;

/** An answer made of summaries, and the builds whose summaries are to be written before it is read again. */
export interface Trend<Answer> {
  answer: Answer;
  outdated: ProjectBuild[];
}

export interface BuildWithSummary {
  build: Build;
  /** Null: none is written yet. */
  summary: Summary | null;
}

/** Builds with their summaries, in one read. */
export async function withSummaries({ summaries }: Pick<Store, 'summaries'>, builds: readonly Build[]): Promise<BuildWithSummary[]> {
  const found = await summaries.ofBuilds(builds.map(({ number }) => number));
  return builds.map((build, i) => ({ build, summary: found[i]! }));
}

/** The idle part of the node time of a build, or of the builds of a day, from 0 to 1. */
export function idleShare({ node_seconds, idle_seconds }: Pick<Summary, 'node_seconds' | 'idle_seconds'>): number {
  return node_seconds > 0 ? idle_seconds / node_seconds : 0;
}

/** The path of the file that decided when a build ended, as a whole or with a piece; null: none did, or it is not known. */
export function decidingPath(summary: Pick<Summary, 'line'> | null): string | null {
  const decided = summary?.line.decided_by;
  return decided && 'path' in decided ? fileOfPiece(decided.path) : null;
}

/** When the last time of a file was recorded, and what was told with it; null: no outcome. */
export interface LastOutcome {
  at: Millis;
  outcome: FileOutcome | null;
}

/** The result of a file in a build that is not known to be flaky there; null: not known. @param last null: it has no time */
export function resultOf(
  { started_at, line, failed_files }: Pick<Summary, 'started_at' | 'line' | 'failed_files'>,
  path: string,
  last: LastOutcome | null,
): FilePoint['result'] {
  const hasTime = last !== null && last.at >= started_at;
  const outcome = hasTime ? last.outcome : null;
  if (outcome === 'flaky') return outcome;
  if (failed_files.includes(path)) return outcome === 'muted' ? outcome : 'failed';
  if (outcome === 'skipped') return null;
  // Its node may record that it failed after its retry has passed: then the queue knows better.
  return failed_files.length === line.failed && hasTime ? 'passed' : outcome;
}

/** Sums up the timeline of the newest CI run of a build for lists and trends. */
export function summarize(
  build: Pick<Build, 'recorded'> | null,
  timeline: Timeline,
  minutes: Minutes,
  baselines: Summary['baselines'],
): Omit<Summary, 'jobs' | 'ci_runs' | 'settled' | 'judgement'> {
  const { kind, started_at, state, paths, nodes } = timeline;
  const { wall, floor } = minutes;
  const { slowest, failed, missing } = fileOutcomes(timeline, 1);
  const failedFiles = failed && [...new Set(failed.map(({ path }) => fileOfPiece(path)))];
  const [longest] = slowest;
  const last = lastNode(timeline);
  const isComplete = hasEndedComplete(state);
  const started = nodes.filter(({ start }) => start !== null);
  const node_seconds = wholeMilliseconds(started.length * wall);
  const idle_seconds = wholeMilliseconds(minutes.nodes.reduce((sum, { idle }) => sum + idle, 0));
  return {
    ...{ recorded: build?.recorded ?? 0, started_at, state },
    line: {
      ...{ kind, wall, floor },
      idle_share: idleShare({ node_seconds, idle_seconds }),
      files: filesAmong(paths),
      failed: failedFiles?.length ?? null,
      missing: filesAmong(missing.map(({ path }) => path)),
      longest: longest ? { path: longest.path, seconds: wholeMilliseconds(longest.seconds) } : null,
      last: last && { node_index: last.lane.node_index, seconds: wholeMilliseconds(last.late) },
      decided_by: isComplete ? decidedBy(timeline, minutes) : null,
      saved: isComplete && kind !== 'recordings' ? savedTime({ kind, wall }, baselines) : null,
    },
    failed_files: failedFiles?.slice(0, FAILED_FILES) ?? [],
    parts: Object.fromEntries(minutes.parts.map(({ name, seconds }) => [name, seconds])) as Summary['parts'],
    ...{ node_seconds, idle_seconds },
    test_seconds: wholeMilliseconds(minutes.nodes.reduce((sum, { work }) => sum + work, 0)),
    slowness: minutes.nodes.map(({ slowness }) => (slowness === null ? null : Math.round(100 * slowness) / 100)),
    baselines,
  };
}

/**
 * The wall time that the best of the other methods would have taken more. Other methods to make a split are round-robin and by name; one
 * file at a time is another queue.
 */
export function savedTime({ kind, wall }: Pick<BuildLineSummary, 'kind' | 'wall'>, baselines: Summary['baselines']): number {
  const { round_robin, by_name, one_at_a_time } = baselines;
  return wholeMilliseconds(Math.min(round_robin, by_name, kind === 'queue' ? one_at_a_time : Infinity) - wall);
}

function decidedBy(timeline: Timeline, minutes: Minutes): BuildLineSummary['decided_by'] {
  const file = decidingFile(timeline, minutes);
  if (file !== null) return { path: timeline.paths[file]! };
  const last = lastNode(timeline);
  return last && last.late > leastDelay(minutes.wall) ? { node_index: last.lane.node_index } : null;
}
