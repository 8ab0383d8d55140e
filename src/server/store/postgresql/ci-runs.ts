import { limits } from '../../../protocol/limits.js';
import { CI_RUNS_PER_BUILD } from '../../engine/ci-run.js';
import { type BuildKey, buildDigest, type QueueKey, type SplitKey, shortDigest } from '../../engine/keys.js';
import type { CiRun, CiRunLinks, CiRuns, JobLink, NotedLinks } from '../../engine/ports/ci-runs.js';
import type { Database } from './connection/database.js';
import { fromJson, fromNames, toNames } from './json.js';

export const CI_RUN = 'id, project, kind, plan, ci_run, digest, names, node_total, created_at, runs_before, links';

export interface CiRunRow extends Omit<CiRun, 'commit_hash' | 'branch' | 'ci_run' | 'links'> {
  /** The commit hash and the branch, and the id that the CI system gave it, as JSON. */
  names: string;
  ci_run: string;
  /** As JSON. */
  links: string | null;
}

export function toCiRun({ names, ci_run, links, ...row }: CiRunRow): CiRun {
  const sent = fromJson<CiRunLinks>(links);
  return { ...row, ...fromNames(names), ci_run: JSON.parse(ci_run) as string, ...(sent && { links: sent }) };
}

/** The columns of a CI run that begins. */
export const CI_RUN_COLUMNS = 'id, project, kind, plan, ci_run, digest, build, names, node_total, created_at, runs_before';

/** The values of `project`, `ci_run`, `digest`, `build`, `names` and `node_total`. */
export function ciRunValues({ project, build, ci_run }: QueueKey | SplitKey): unknown[] {
  return [
    ...[project, JSON.stringify(ci_run.slice(0, limits.ciRunCharacters)), shortDigest(ci_run), buildDigest(project, build)],
    ...[toNames(build), build.node_total],
  ];
}

/** Locks the CI runs against the sweep only, so that many processes note those of one at the same time. */
const NOTE_LINKS = `with n as (
    select * from unnest($1::text[], $2::int4[], $3::text[], $4::text[]) as v (id, node_index, url, links)
  ), known as materialized (
    select c.* from (select distinct id from n order by id) n
    cross join lateral (select id, links from ci_runs where id = n.id limit 1 for key share) c
  ), linked as (
    update ci_runs set links = s.links from (select id, min(links) as links from n group by id) s, known
    where ci_runs.id = s.id and known.id = s.id and s.links is not null and known.links is null and ci_runs.links is null
  )
  insert into jobs (ci_run, node_index, url)
  select n.id, n.node_index, n.url from n join known on known.id = n.id where n.url is not null order by n.id, n.node_index
  on conflict (ci_run, node_index) do update set url = excluded.url where jobs.url <> excluded.url`;

export function postgresqlCiRuns(database: Database) {
  return {
    async get(project, id) {
      const [row] = await database.read<CiRunRow>(`select ${CI_RUN} from ci_runs where id = $1 and project = $2`, [id, project]);
      return row ? toCiRun(row) : null;
    },
    async list(project, before, limit) {
      const rows = await database.read<CiRunRow>(
        `select ${CI_RUN} from ci_runs where project = $1 and created_at < $2 order by created_at desc, id desc limit $3`,
        [project, Math.min(before, Number.MAX_SAFE_INTEGER), limit],
      );
      return rows.map(toCiRun);
    },
    async ofBuild(project: number, build: BuildKey) {
      const rows = await database.read<CiRunRow>(
        `select ${CI_RUN} from ci_runs where build = $1 order by created_at desc, id desc limit $2`,
        [buildDigest(project, build), CI_RUNS_PER_BUILD],
      );
      return rows.map(toCiRun);
    },
    async newest(project: number, builds: readonly BuildKey[]) {
      const keys = builds.map(build => buildDigest(project, build));
      const rows = await database.read<CiRunRow & { build: string }>(
        `select n.* from unnest($1::text[]) as k (build) cross join lateral (
          select build, ${CI_RUN} from ci_runs where build = k.build order by created_at desc, id desc limit 1
        ) n`,
        [keys],
      );
      const found = new Map(rows.map(({ build, ...row }) => [build, toCiRun(row)]));
      return keys.map(key => found.get(key) ?? null);
    },
    async noteLinks(sent) {
      const linksOf = ({ commit_url, diff_url }: NotedLinks) =>
        commit_url === null && diff_url === null ? null : JSON.stringify({ commit_url, diff_url } satisfies CiRunLinks);
      await database.change(NOTE_LINKS, [
        sent.map(({ id }) => id),
        sent.map(({ node_index }) => node_index),
        sent.map(({ job_url }) => job_url),
        sent.map(linksOf),
      ]);
    },
    jobs: id => database.read<JobLink>('select node_index, url from jobs where ci_run = $1 order by node_index', [id]),
  } satisfies CiRuns;
}
