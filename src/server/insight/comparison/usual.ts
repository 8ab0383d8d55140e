import { roundParts, wholeMilliseconds } from '../../../base/rounding.js';
import { timestamp } from '../../../base/time.js';
import type { UsualBuilds } from '../../../protocol/answers/comparison.js';
import { PART_NAMES, type PartName } from '../../../protocol/answers/minutes.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import type { ProjectBuild } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Store } from '../../engine/ports/store.js';
import { isOutOfDate, type Summary } from '../../engine/ports/summaries.js';
import { mean, median } from '../../planning/estimating/median.js';
import type { Subject } from '../subject.js';
import { timesOfBuilds } from '../trends/file-table.js';
import { withSummaries } from '../trends/summary.js';
import type { Measured } from './measured.js';

/** From so many builds on a median tells what is usual. */
const LEAST_BUILDS = 3;

type UsualStore = Pick<Store, 'builds' | 'summaries' | 'access'>;

/** The usual times, and the builds whose summaries are to be written before these times are read again. */
export interface Usual {
  /** Null: too few builds tell. */
  found: { builds: Omit<UsualBuilds, 'shorter'>; walls: number[]; measured: Measured } | null;
  outdated: ProjectBuild[];
}

/**
 * Medians of the last complete builds before a build that had as many nodes: of its branch, or else of the default branch. The time of a file is the
 * median over the builds that measured it, if they are at least half.
 */
export async function usualFor(store: UsualStore, { project, build, recorded }: Subject): Promise<Usual> {
  const outdated: ProjectBuild[] = [];
  const { default_branch = null } = (await store.access.project(project)) ?? {};
  for (const branch of new Set([build.branch, default_branch])) {
    if (branch === null) continue;
    const before = await completeBuilds(store, project, { branch, node_total: build.node_total }, recorded?.number ?? null, outdated);
    if (before.length < LEAST_BUILDS) continue;
    const oldest = before.at(-1)!.build;
    const files = await usualFiles(
      store,
      project,
      before.map(each => each.build),
    );
    const measured = { ...usualTimes(before.map(({ summary }) => summary)), files };
    const builds = { branch, builds: before.length, since: timestamp(oldest.created_at) };
    return { found: { builds, walls: before.map(({ summary }) => summary.line.wall), measured }, outdated };
  }
  return { found: null, outdated };
}

/** Newest first. */
async function completeBuilds(
  store: UsualStore,
  project: number,
  filter: { branch: string; node_total: number },
  before: number | null,
  outdated: ProjectBuild[],
): Promise<{ build: Build; summary: Summary }[]> {
  const complete: { build: Build; summary: Summary }[] = [];
  const builds = await store.builds.list(project, filter, { before, limit: limits.trendBuilds });
  for (const { build, summary } of await withSummaries(store, builds)) {
    if (complete.length === limits.usualBuilds) break;
    if (isOutOfDate(build, summary)) outdated.push(build);
    else if (summary && hasEndedComplete(summary.state)) complete.push({ build, summary });
  }
  return complete;
}

async function usualFiles(store: UsualStore, project: number, newestFirst: readonly Build[]): Promise<Map<string, number>> {
  const table = await timesOfBuilds(store, project, newestFirst);
  const files = new Map<string, number>();
  for (const [file, path] of table.paths.entries()) {
    const times = table.seconds.subarray(table.starts[file], table.starts[file + 1]);
    if (2 * times.length >= table.builds.length) files.set(await store.builds.path(path), wholeMilliseconds(median([...times])));
  }
  return files;
}

/**
 * The median wall time, and the parts that add up to it: their means over the half of the builds with the middle wall times, which are scaled
 * to that sum. Medians of parts would not add up: in most builds one part or another is unusual.
 */
function usualTimes(summaries: readonly Summary[]): Omit<Measured, 'files'> {
  const sorted = summaries.toSorted((a, b) => a.line.wall - b.line.wall);
  const wall = wholeMilliseconds(median(sorted.map(({ line }) => line.wall)));
  const outside = Math.floor(sorted.length / 4);
  const middle = sorted.slice(outside, sorted.length - outside);
  const scale = wall > 0 ? wall / mean(middle.map(({ line }) => line.wall)) : 1;
  const seconds = roundParts(
    PART_NAMES.map(name => scale * mean(middle.map(({ parts }) => parts[name]))),
    wall,
  );
  const parts = Object.fromEntries(PART_NAMES.map((name, i) => [name, seconds[i]!])) as Record<PartName, number>;
  const nodes = Math.round(median(middle.map(({ line, node_seconds }) => node_seconds / line.wall)));
  return { wall, floor: wholeMilliseconds(parts.even_share + parts.longest_file), parts, nodes };
}
