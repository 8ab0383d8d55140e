import { countOn, dayOf } from '../../engine/days/days.js';
import { buildDigest, type ProjectBuild } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { DaySummary, Summaries, Summary } from '../../engine/ports/summaries.js';
import { CI_RUN, type CiRunRow, toCiRun } from './ci-runs.js';
import type { Database } from './connection/database.js';
import { lookUp } from './connection/look-up.js';
import { branchKey, changedDays, dayValues, inTurn, putDays } from './days.js';
import { fromJson } from './json.js';

interface Before {
  days_turn: number;
  /** The summary that is replaced. */
  summary: string | null;
  /** The CI run that has it, if it is of a build of which nothing was recorded. */
  ci_run: string | null;
}

/** No number of a build. */
const NO_BUILD = 0;

export function postgresqlSummaries(database: Database) {
  /**
   * Changes the summary of a build, and its days with it. What it rests on is read before, with the turn of the days of the project: when
   * another process changed these meanwhile, nothing is written, and it is read again.
   */
  async function replace(build: ProjectBuild, number: number | null, ciRun: string | null, summary: Summary): Promise<void> {
    const key = buildDigest(build.project, build);
    await inTurn(async () => {
      const [known] = await database.read<Before>(
        `select days_turn, coalesce(s.summary, u.summary) as summary, u.id as ci_run from projects
        left join summaries s on s.build = $2
        left join lateral (select id, summary from ci_runs where build = $3 and summary is not null order by created_at desc, id desc limit 1) u on true
        where projects.id = $1`,
        [build.project, number ?? NO_BUILD, key],
      );
      if (!known) return true;
      const before = fromJson<Summary>(known.summary);
      const numbers = [...new Set([before && dayOf(before), dayOf(summary)])].filter(day => day !== null);
      const days = await changedDays(database, build, numbers, (day, isKept) => {
        // The day may have expired before the build.
        const without = before && dayOf(before) === day.day && isKept ? countOn(day, before, -1) : day;
        return dayOf(summary) === day.day ? countOn(without, summary, 1) : without;
      });
      const { rows } = await database.change<{ isDone: boolean; isGone: boolean }>(
        `with b as (
          select number from builds where key = $3 for share
        ), c as (
          select id from ci_runs where id = $6
        ), p as (
          update projects set days_turn = days_turn + 1 where id = $1 and days_turn = $2
          and ($5::int4 is null and not exists (select 1 from b) and exists (select 1 from c) or $5::int4 = (select number from b)) returning id
        ), s as (
          insert into summaries (build, summary) select $5, $4 from p where $5::int4 is not null on conflict (build) do update set summary = excluded.summary
        ), u as (
          update ci_runs set summary = case when ci_runs.id = $6 then $4 end from p where ci_runs.id = $6 or ci_runs.id = $7
        ), d as (
          ${putDays(8)}
        )
        select exists (select 1 from p) as "isDone", $5::int4 is null and exists (select 1 from b) or $5::int4 is not null and not exists (select 1 from b)
          or $5::int4 is null and not exists (select 1 from c) as "isGone"`,
        [build.project, known.days_turn, key, JSON.stringify(summary), number, ciRun, known.ci_run, ...dayValues(days)],
      );
      const { isDone, isGone } = rows[0]!;
      return isDone || isGone;
    });
  }

  return {
    async get(build) {
      const [row] = await database.read<{ summary: string }>('select summary from summaries where build = $1', [build]);
      return fromJson<Summary>(row?.summary);
    },
    async ofBuilds(builds) {
      const rows = await database.read<{ build: number; summary: string }>(lookUp('build, summary', 'summaries', 'build', 'int4'), [
        builds,
      ]);
      const found = new Map(rows.map(({ build, summary }) => [build, JSON.parse(summary) as Summary]));
      return builds.map(build => found.get(build) ?? null);
    },
    put: (build: Build, summary: Summary) => replace(build, build.number, null, summary),
    async ofUnrecorded({ id }: CiRun) {
      const [row] = await database.read<{ summary: string | null }>('select summary from ci_runs where id = $1', [id]);
      return fromJson<Summary>(row?.summary);
    },
    async unrecorded(project, { from, before }, limit) {
      const rows = await database.read<CiRunRow & { summary: string }>(
        `select ${CI_RUN}, summary from ci_runs where project = $1 and created_at >= $2 and created_at < $3 and summary is not null
        order by created_at desc, id desc limit $4`,
        [project, Math.max(0, from), Math.min(before, Number.MAX_SAFE_INTEGER), limit],
      );
      return rows.map(({ summary, ...row }) => ({ ciRun: toCiRun(row), summary: JSON.parse(summary) as Summary }));
    },
    putUnrecorded: (ciRun: CiRun, summary: Summary) => replace(ciRun, null, ciRun.id, summary),
    async days(project: number, branch: string | null, from: number, to: number) {
      const rows = await database.read<{ summary: string }>(
        'select summary from days where project = $1 and branch = $2 and day between $3 and $4 and counted > 0 order by day',
        [project, branchKey(branch), Math.max(0, from), Math.min(to, 2 ** 31 - 1)],
      );
      return rows.map(({ summary }) => JSON.parse(summary) as DaySummary);
    },
  } satisfies Summaries;
}
