import { wholeMilliseconds } from '../../../base/rounding.js';
import { DAY_MILLISECONDS } from '../../../base/time.js';
import { PART_NAMES } from '../../../protocol/answers/minutes.js';
import { emptyDay } from '../../engine/days/days.js';
import type { Project } from '../../engine/ports/access.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import type { DaySum, DaySummary } from '../../engine/ports/summaries.js';
import { ALWAYS, buildLines } from './build-lines.js';
import { completeBuilds } from './build-trend.js';
import { RECENT_BUILDS } from './overview.js';
import type { Trend } from './summary.js';

/** A gauge of a project. */
export interface ProjectMetric {
  name: string;
  help: string;
  values: { labels: Readonly<Record<string, string>>; value: number }[];
}

/** The sums of a day that are metrics. A build that is run again leaves its day while it runs, so none of them only grows. */
const TODAY: readonly [name: string, help: string, sum: DaySum][] = [
  ['builds_today', 'Builds that have ended today (UTC), and began today.', 'builds'],
  ['incomplete_builds_today', 'Those of them with test files that were not recorded.', 'incomplete'],
  ['cancelled_builds_today', 'Those of them that their CI system cancelled, as the clients report.', 'cancelled'],
  ['failed_builds_today', 'Those of them with failed test files, as the clients report.', 'with_failures'],
  ['passed_builds_today', 'Those of them that ran all test files of their plan, and none failed, as the clients report.', 'passed'],
  ['wall_seconds_today', 'Sum of the wall times of the complete builds of today.', 'wall'],
  ['floor_seconds_today', 'Sum of the wall times that would have been possible.', 'floor'],
  ['node_seconds_today', 'Sum over these builds of their nodes times their wall time.', 'node_seconds'],
  ['idle_seconds_today', 'The part of the node time after the end of each node.', 'idle_seconds'],
  ['saved_seconds_today', 'Wall time that the best of the other methods would have taken more.', 'saved'],
  ['proved_runs_today', 'CI runs of today that did not run their tests, because another one had proved their tree.', 'proved_runs'],
  ['proved_seconds_today', 'Sum of what these tests took in the CI runs that proved them, on all nodes.', 'proved_seconds'],
];

/**
 * Metrics that a project's owner has Prometheus read: today, for the default branch and all others together, and the newest build of the default
 * branch that has ended. They are read from summaries, so their cost does not grow with the number of builds.
 */
export async function projectMetrics(
  store: Pick<Store, 'builds' | 'ciRuns' | 'summaries'>,
  { id, name, default_branch }: Pick<Project, 'id' | 'name' | 'default_branch'>,
  now: Millis,
): Promise<Trend<ProjectMetric[]>> {
  const today = Math.floor(now / DAY_MILLISECONDS);
  const dayOf = async (branch: string | null) => (await store.summaries.days(id, branch, today, today))[0] ?? emptyDay(today);
  const linesOf = (branch?: string) => {
    const filter = branch === undefined ? {} : { branch };
    return buildLines(store, id, { filter, failed: false, created: ALWAYS, cursor: null, limit: RECENT_BUILDS }, now);
  };
  const all = await dayOf(null);
  const ofDefault = default_branch === null ? emptyDay(today) : await dayOf(default_branch);
  const newest = await linesOf();
  const ofBranch = default_branch === null ? null : await linesOf(default_branch);
  const branches = { default: ofDefault, other: minus(all, ofDefault) };

  const metric = (key: string, help: string, values: ProjectMetric['values']): ProjectMetric => ({
    name: `ballast_project_${key}`,
    help,
    values: values.map(({ labels, value }) => ({ labels: { project: name, ...labels }, value })),
  });
  const byBranch = (read: (day: DaySummary) => number) =>
    Object.entries(branches).map(([branch, day]) => ({ labels: { branch }, value: read(day) }));
  const last = ofBranch?.answer.builds.find(({ summary, is_running }) => summary && !is_running);
  const ofLast = (key: string, help: string, value: number | null | undefined) =>
    metric(`last_build_${key}`, help, value === null || value === undefined ? [] : [{ labels: {}, value }]);
  const { summary } = last ?? {};
  const metrics = [
    ...TODAY.map(([key, help, sum]) =>
      metric(
        key,
        help,
        byBranch(({ sums }) => sums[sum]),
      ),
    ),
    metric(
      'complete_builds_today',
      'Builds of today whose times count: no test file is missing, as far as it is known.',
      byBranch(completeBuilds),
    ),
    metric(
      'part_seconds_today',
      'Wall time of the complete builds of today, by cause. The parts add up to ballast_project_wall_seconds_today.',
      Object.entries(branches).flatMap(([branch, { sums }]) => PART_NAMES.map(part => ({ labels: { branch, part }, value: sums[part] }))),
    ),
    metric('running_builds', 'Builds that are running.', [
      { labels: {}, value: newest.answer.builds.filter(each => each.is_running).length },
    ]),
    ofLast(
      'start_timestamp_seconds',
      'When the newest build of the default branch that has ended began.',
      last && Date.parse(last.started_at) / 1000,
    ),
    ofLast('wall_seconds', 'Its wall time.', summary?.wall),
    ofLast('floor_seconds', 'The wall time that would have been possible.', summary?.floor),
    ofLast('idle_ratio', 'The idle part of its node time, from 0 to 1.', summary?.idle_share),
    ofLast('nodes', 'Its nodes.', last?.node_total),
    ofLast('files', 'Its test files.', summary?.files),
    ofLast('missing_files', 'Its test files that were not recorded.', summary?.missing),
    ofLast('failed_files', 'Its test files that failed; missing if its clients do not report it.', summary?.failed),
  ];
  return { answer: metrics, outdated: [...newest.outdated, ...(ofBranch?.outdated ?? [])] };
}

/** Subtracts a part of a day from the day. */
function minus(day: DaySummary, { sums }: DaySummary): DaySummary {
  const rest = Object.entries(day.sums).map(([name, sum]) => [name, Math.max(0, wholeMilliseconds(sum - sums[name as DaySum]))]);
  return { ...day, sums: Object.fromEntries(rest) as DaySummary['sums'] };
}
