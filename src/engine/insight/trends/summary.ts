import type { Build } from '../../ports/builds.js';
import type { Summary } from '../../ports/summaries.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import { decidingFile, lastNode, leastDelay } from '../minutes/last-node.js';
import type { Minutes } from '../minutes/minutes.js';
import type { Timeline } from '../timeline/timeline.js';

/** Whether a build needs another summary: it has none, runs were recorded later, or nodes were at work when it was made. */
export function isOutOfDate({ recorded }: Pick<Build, 'recorded'>, summary: Summary | null): boolean {
  return summary === null || summary.recorded !== recorded || summary.is_running;
}

/** The idle part of the node time of a build, or of the builds of a day, from 0 to 1. */
export function idleShare({ nodeTime, idleTime }: Pick<Summary, 'nodeTime' | 'idleTime'>): number {
  return nodeTime > 0 ? idleTime / nodeTime : 0;
}

/**
 * The milliseconds of wall time that the best of the other methods would have taken more. Other methods to make a split are round-robin
 * and by name; one file at a time is another queue.
 */
export function savedTime({ kind, wall, baselines }: Pick<Summary, 'kind' | 'wall' | 'baselines'>): number {
  const { round_robin, by_name, one_at_a_time } = baselines;
  return Math.min(round_robin, by_name, kind === 'queue' ? one_at_a_time : Infinity) - wall;
}

/** What decided when a build ended: a file, or else the node that was late. Null: nothing stands out. */
export function decidedBy({
  decided_by,
  last,
  wall,
}: Pick<Summary, 'decided_by' | 'last' | 'wall'>): { path: string } | { node_index: number } | null {
  if (decided_by !== null) return { path: decided_by };
  return last && last.milliseconds > leastDelay(wall) ? { node_index: last.node_index } : null;
}

const MOST_SLOWNESS = 655;

/** The summary of a build for lists and trends, made of the timeline of its newest CI run. */
export function summarize(
  { recorded }: Pick<Build, 'recorded'>,
  timeline: Timeline,
  minutes: Minutes,
  baselines: Summary['baselines'],
): Summary {
  const { kind, start, end, files, nodes } = timeline;
  const { slowest, total, failed, missing } = fileOutcomes(timeline, 1);
  const [longest] = slowest;
  const last = lastNode(timeline);
  const deciding = decidingFile(timeline, minutes);
  return {
    recorded,
    kind,
    started_at: start,
    is_running: timeline.isRunning,
    wall: minutes.wall,
    floor: minutes.floor,
    parts: minutes.parts.map(({ milliseconds }) => milliseconds),
    nodeTime: nodes.filter(node => node.start !== null).length * (end - start),
    idleTime: minutes.nodes.reduce((sum, { idle }) => sum + idle, 0),
    total: Math.round(1000 * total),
    files: files.paths.length,
    failed: failed === null ? null : failed.length,
    missing: missing.length,
    longest: longest ? { path: files.paths[longest.file]!, milliseconds: Math.round(1000 * longest.seconds) } : null,
    last: last && { node_index: last.lane.node_index, milliseconds: last.late },
    decided_by: deciding === null ? null : files.paths[deciding]!,
    slowness: minutes.nodes.map(({ slowness }) => Math.min(MOST_SLOWNESS, Math.round(100 * (slowness ?? 0)) / 100)),
    baselines,
  };
}
