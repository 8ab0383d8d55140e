import { limits } from '../../../protocol/limits.js';
import { CI_RUNS_PER_BUILD, SPARED_PER_CI_RUN } from '../../engine/ci-run.js';
import { CI_RUNS_OF_TREE } from '../../engine/completeness/checkouts.js';
import { countSpared, dayAt } from '../../engine/days/days.js';
import { type BuildKey, buildDigest, type QueueKey, type SplitKey, shortDigest, sparedKey } from '../../engine/keys.js';
import { CHANGING_CHECKOUT } from '../../engine/node-notes.js';
import type { Checkout, CiRun, CiRunLinks, CiRuns, NodeNote, NotedNode, SparedCiRun } from '../../engine/ports/ci-runs.js';
import type { Database } from './connection/database.js';
import { changedDays, dayValues, inTurn, putDays } from './days.js';
import { fromJson, fromNames, toNames } from './json.js';

export const CI_RUN = 'id, project, kind, plan, ci_run, digest, names, node_total, created_at, runs_before, links, tree';

export interface CiRunRow extends Omit<CiRun, 'commit_hash' | 'branch' | 'ci_run' | 'links' | 'tree'> {
  /** The commit hash and the branch, and the id that the CI system gave it, as JSON. */
  names: string;
  ci_run: string;
  /** As JSON. */
  links: string | null;
  tree: string | null;
}

export function toCiRun({ names, ci_run, links, tree, ...row }: CiRunRow): CiRun {
  const sent = fromJson<CiRunLinks>(links);
  const told = { ...(sent && { links: sent }), ...(tree !== null && { tree }) };
  return { ...row, ...fromNames(names), ci_run: JSON.parse(ci_run) as string, ...told };
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

/**
 * Locks the CI runs against the sweep only, so that many processes note those of one at the same time. See joinCheckouts for what a node told at
 * different times.
 */
const NOTE_NODES = `with n as (
    select * from unnest($1::text[], $2::int4[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
      as v (id, node_index, job_url, links, tree, checkout, command)
  ), known as materialized (
    select c.* from (select distinct id from n order by id) n
    cross join lateral (select id, links, tree from ci_runs where id = n.id limit 1 for key share) c
  ), noted as (
    update ci_runs set links = coalesce(ci_runs.links, s.links), tree = coalesce(ci_runs.tree, s.tree)
    from (select id, min(links) as links, min(tree) as tree from n group by id) s, known
    where ci_runs.id = s.id and known.id = s.id
      and ((s.links is not null and known.links is null and ci_runs.links is null)
        or (s.tree is not null and known.tree is null and ci_runs.tree is null))
  )
  insert into nodes (ci_run, node_index, job_url, checkout, command)
  select n.id, n.node_index, n.job_url, n.checkout, n.command from n join known on known.id = n.id
  order by n.id, n.node_index
  on conflict (ci_run, node_index) do update set
    job_url = coalesce(excluded.job_url, nodes.job_url),
    checkout = case when nodes.checkout is not distinct from excluded.checkout then nodes.checkout else $8 end,
    command = case when nodes.command = excluded.command then nodes.command end
  where (excluded.job_url is not null and excluded.job_url is distinct from nodes.job_url)
    or nodes.checkout is distinct from excluded.checkout
    or (nodes.command is not null and nodes.command is distinct from excluded.command)`;

interface NodeRow extends Omit<NotedNode, 'checkout'> {
  /** As JSON. */
  checkout: string | null;
}

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
    async ofTree(project, tree, limit) {
      const rows = await database.read<CiRunRow>(
        `select ${CI_RUN} from ci_runs where project = $1 and tree = $2 order by created_at desc, id desc limit $3`,
        [project, tree, limit],
      );
      return rows.map(toCiRun);
    },
    async noteNodes(told) {
      const linksOf = ({ links }: NodeNote) => {
        const { commit_url = null, diff_url = null } = links ?? {};
        return commit_url === null && diff_url === null ? null : JSON.stringify({ commit_url, diff_url } satisfies CiRunLinks);
      };
      await database.change(NOTE_NODES, [
        told.map(({ id }) => id),
        told.map(({ node_index }) => node_index),
        told.map(({ links }) => links?.job_url ?? null),
        told.map(linksOf),
        told.map(({ checkout }) => checkout?.tree ?? null),
        told.map(({ checkout }) => checkout && JSON.stringify(checkout)),
        told.map(({ command }) => command),
        JSON.stringify(CHANGING_CHECKOUT),
      ]);
    },
    async nodes(id) {
      const rows = await database.read<NodeRow>(
        'select node_index, job_url, checkout, command from nodes where ci_run = $1 order by node_index',
        [id],
      );
      return rows.map(({ checkout, ...row }) => ({ ...row, checkout: fromJson<Checkout>(checkout) }));
    },
    async noteSpared({ id, project, tree = '' }, run) {
      let isNoted = false;
      await inTurn(async () => {
        const key = sparedKey(run);
        const [known] = await database.read<{ days_turn: number; isNoted: boolean; spared: number }>(
          `select days_turn, (select count(*) from spared where ci_run = $2) as spared,
          exists (select from spared where ci_run = $2 and key = $4) or exists (
            select from (select id from ci_runs where project = $1 and tree = $3 order by created_at desc, id desc limit $5) c
            join spared on spared.ci_run = c.id and spared.key = $4
          ) as "isNoted"
          from projects where id = $1 and exists (select from ci_runs where id = $2)`,
          [project, id, tree, key, CI_RUNS_OF_TREE],
        );
        if (!known || known.isNoted || known.spared >= SPARED_PER_CI_RUN) return true;
        const days = await changedDays(database, { project, branch: run.branch }, [dayAt(run.asked_at)], day => countSpared(day, run));
        const { rows } = await database.change<{ isDone: boolean }>(
          `with c as materialized (
            select id from ci_runs where id = $3 for key share
          ), p as (
            update projects set days_turn = days_turn + 1 where id = $1 and days_turn = $2 and exists (select from c) returning id
          ), s as (
            insert into spared (ci_run, key, record) select $3, $4, $5 from p
          ), d as (
            ${putDays(6)}
          )
          select exists (select from p) as "isDone"`,
          [project, known.days_turn, id, key, JSON.stringify(run), ...dayValues(days)],
        );
        isNoted = rows[0]!.isDone;
        return isNoted;
      });
      return isNoted;
    },
    async spared(id) {
      const rows = await database.read<{ record: string }>('select record from spared where ci_run = $1', [id]);
      return rows.map(({ record }) => JSON.parse(record) as SparedCiRun);
    },
  } satisfies CiRuns;
}
