import type { Build } from '../../ports/builds.js';
import type { Summary } from '../../ports/summaries.js';
import { leastDelay, MAIN_PART } from '../minutes/delay.js';
import { type Minutes, PART_NAMES } from '../minutes/minutes.js';
import type { NodeLane, Timeline } from '../timeline/timeline.js';

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

const MOST_SLOWNESS = 655;

/** The summary of a build for lists and trends, made of the timeline of its newest CI run. */
export function summarize(
  { recorded }: Pick<Build, 'recorded'>,
  timeline: Timeline,
  minutes: Minutes,
  baselines: Summary['baselines'],
): Summary {
  const { kind, start, end, files, nodes } = timeline;
  const { seconds, failed } = lastRuns(timeline);
  const times = seconds.map(each => (Number.isNaN(each) ? 0 : each));
  const longest = times.reduce((best, each, file) => (each > times[best]! ? file : best), 0);
  const last = lastNode(nodes);
  return {
    recorded,
    kind,
    started_at: start,
    is_running: timeline.isRunning,
    wall: minutes.wall,
    floor: minutes.floor,
    parts: PART_NAMES.map(name => partOf(minutes, name)),
    nodeTime: nodes.filter(node => node.start !== null).length * (end - start),
    idleTime: minutes.nodes.reduce((sum, { idle }) => sum + idle, 0),
    total: Math.round(1000 * times.reduce((sum, each) => sum + each, 0)),
    files: times.length,
    failed,
    missing: seconds.reduce((sum, each) => sum + Number(Number.isNaN(each)), 0),
    longest: times[longest]! > 0 ? { path: files.paths[longest]!, milliseconds: Math.round(1000 * times[longest]!) } : null,
    last: last && { node_index: last.lane.node_index, milliseconds: last.late },
    decided_by: decidingFile(timeline, minutes, longest),
    slowness: minutes.nodes.map(({ slowness }) => Math.min(MOST_SLOWNESS, Math.round(100 * (slowness ?? 0)) / 100)),
    baselines,
  };
}

/**
 * The file without which the build would have ended earlier: the longest one, if it takes longer than an even share of the work. Else,
 * if the last node was late, the file of that node that exceeded its estimate most, and by at least half of the delay. Null: none
 * stands out.
 */
export function decidingFile({ files, nodes }: Timeline, minutes: Minutes, longest: number): string | null {
  const least = leastDelay(minutes.wall);
  if (partOf(minutes, 'longest_file') > least) return files.paths[longest] ?? null;
  const last = lastNode(nodes);
  if (!last || last.late <= least) return null;
  let most = (MAIN_PART * last.late) / 1000;
  let decisive: number | null = null;
  for (const span of last.lane.spans) {
    for (const [i, file] of span.files.entries()) {
      const excess = span.seconds[i]! - files.estimates[file]!;
      if (!(excess >= most)) continue;
      most = excess;
      decisive = file;
    }
  }
  return decisive === null ? null : files.paths[decisive]!;
}

/** The node that ended last, and how many milliseconds after the one before; null: fewer than two nodes started. */
function lastNode(nodes: readonly NodeLane[]): { lane: NodeLane; late: number } | null {
  const [last, before] = nodes.filter(({ end }) => end !== null).sort((a, b) => b.end! - a.end!);
  return last && before ? { lane: last, late: last.end! - before.end! } : null;
}

/** By file: what its last run took, NaN without one; and how many files failed then, null if no client reports it. */
function lastRuns({ files, nodes }: Timeline): { seconds: Float64Array; failed: number | null } {
  const seconds = new Float64Array(files.paths.length).fill(NaN);
  const hasFailed = new Uint8Array(seconds.length);
  let isTold = false;
  const spans = nodes.flatMap(node => node.spans).sort((a, b) => a.from - b.from);
  for (const span of spans) {
    isTold ||= span.failed !== null;
    const failed = new Set(span.failed);
    for (const [i, file] of span.files.entries()) {
      if (Number.isNaN(span.seconds[i]!)) continue;
      seconds[file] = span.seconds[i]!;
      hasFailed[file] = Number(failed.has(file));
    }
  }
  return { seconds, failed: isTold ? hasFailed.reduce((sum, each) => sum + each, 0) : null };
}

function partOf({ parts }: Minutes, name: string): number {
  return parts.find(part => part.name === name)?.milliseconds ?? 0;
}
