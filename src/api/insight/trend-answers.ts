import { PART_NAMES } from '../../engine/insight/minutes/minutes.js';
import { medianWall } from '../../engine/insight/trends/days.js';
import type { FileHistory as History } from '../../engine/insight/trends/file-history.js';
import type { FileRow, FileTrendPage } from '../../engine/insight/trends/file-trends.js';
import type { NodeHistory } from '../../engine/insight/trends/node-trends.js';
import { idleShare } from '../../engine/insight/trends/summary.js';
import type { DaySummary } from '../../engine/ports/summaries.js';
import { DAY_MILLISECONDS, timestamp } from '../../time.js';
import { secondsOf } from '../json.js';
import type { DayTrend, FileHistory, FileTrend, FileTrends, NodeTrends } from '../messages/insight/trends.js';

/** Trends in the form that the API returns. */

export function dayTrend(day: DaySummary): DayTrend {
  const { builds, baselines, wall } = day;
  const mean = (milliseconds: number) => secondsOf(milliseconds / builds);
  return {
    day: timestamp(day.day * DAY_MILLISECONDS).slice(0, 10),
    builds,
    incomplete: day.incomplete,
    with_failures: day.withFailures,
    wall: mean(wall),
    floor: mean(day.floor),
    median_wall: secondsOf(medianWall(day)),
    idle_share: idleShare(day),
    parts: PART_NAMES.map((name, i) => ({ name, seconds: mean(day.parts[i]!) })),
    saved: {
      round_robin: secondsOf(baselines.round_robin - wall),
      by_name: secondsOf(baselines.by_name - wall),
      one_at_a_time: secondsOf(baselines.one_at_a_time - wall),
      best: secondsOf(day.saved),
    },
    node_seconds: secondsOf(day.nodeTime),
  };
}

export function fileTrendsAnswer(branch: string, { since, files, count, total, builds, decided }: FileTrendPage): FileTrends {
  return {
    branch,
    builds,
    since: since === null ? null : timestamp(since),
    total: rounded(total),
    files: files.map(file => fileTrend(file, total)),
    file_count: count,
    decided,
  };
}

function fileTrend({ path, median, last, spread, builds, decided, change, recent }: FileRow, total: number): FileTrend {
  return {
    path,
    median: rounded(median),
    last: rounded(last),
    spread: rounded(spread),
    share: rounded(median / total, 1e6),
    builds,
    decided,
    change: change && {
      at: timestamp(change.build.created_at),
      commit_hash: change.build.commit_hash,
      factor: rounded(change.after / change.before),
    },
    recent: recent.map(each => (each === null ? null : rounded(each))),
  };
}

export function fileHistoryAnswer(path: string, branch: string, { points, changes, decided, cutSaves }: History): FileHistory {
  return {
    path,
    branch,
    points: points.map(({ build, at, node_index, seconds, expected }) => ({
      build_id: build.id,
      commit_hash: build.commit_hash,
      at: timestamp(at),
      node_index,
      seconds: rounded(seconds),
      estimate: expected && rounded(expected.estimate),
      low: expected && rounded(expected.low),
      high: expected && rounded(expected.high),
    })),
    changes: changes.map(({ point, before, after }) => ({
      at: timestamp(point.at),
      build_id: point.build.id,
      commit_hash: point.build.commit_hash,
      factor: rounded(after / before),
      before: rounded(before),
      after: rounded(after),
    })),
    decided: decided.map(({ build, seconds }) => ({
      build_id: build.id,
      commit_hash: build.commit_hash,
      at: timestamp(build.created_at),
      seconds,
    })),
    cut_saves: cutSaves === null ? null : rounded(cutSaves),
  };
}

export function nodeTrendsAnswer(branch: string | null, { node_total, builds, nodes }: NodeHistory): NodeTrends {
  return {
    branch,
    node_total,
    builds: builds.map(({ id, created_at, commit_hash }) => ({ build_id: id, at: timestamp(created_at), commit_hash })),
    nodes: nodes.map(({ slowness, median, isSlow, slowBuilds, lastBuilds }, node_index) => ({
      node_index,
      slowness,
      median: median === null ? null : rounded(median),
      is_slow: isSlow,
      slow_builds: slowBuilds,
      last_builds: lastBuilds,
    })),
  };
}

/** Tenths of milliseconds, as plans count; finite, as JSON needs. */
function rounded(value: number, unit = 1e4): number {
  const scaled = Math.round(value * unit) / unit;
  return Number.isFinite(scaled) ? scaled : Math.min(Number.MAX_VALUE, value);
}
