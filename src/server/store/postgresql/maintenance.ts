import { DAY_MILLISECONDS } from '../../../base/time.js';
import type { ExpiringKind, Maintenance, Processes } from '../../engine/ports/maintenance.js';
import type { Millis } from '../../engine/ports/store.js';
import { refusals } from '../../engine/refusal.js';
import { EXPIRED_PER_STEP, LAST_USE_UPDATE_MILLISECONDS } from '../../engine/retention.js';
import type { Database } from './connection/database.js';
import { NOW, PATHS_PER_STATEMENT } from './connection/sql.js';
import type { Learner } from './learner.js';
import type { Pieces } from './plans/pieces.js';

/** A process is ready until its database has been away for this time. */
const DATABASE_AWAY_MILLISECONDS = 60_000;
/** Records of a kind that are counted: where there are more, their number is an estimate of the database. */
const COUNTED_RECORDS = 10_000;

type Count = (kind: ExpiringKind) => void;

/** A statement that deletes some records: their number is its result. `$1` is a time or a project. */
interface Step {
  kind: ExpiringKind | null;
  text: string;
  /** Its time is a number of days. */
  isByDay?: true;
}

/** Records that one step deletes. The planner knows this number, and looks the records up instead of reading whole tables. */
const SOME = EXPIRED_PER_STEP;
/** Paths are small and many, and each step passes over what those before left in the index. */
const SOME_PATHS = PATHS_PER_STATEMENT;

const deleted = (rows: string) => `${rows} select count(*)::int4 as deleted from gone`;

/**
 * Deletes runs, which a build counts. The build is left without runs, and goes with `BUILDS`.
 *
 * @param some a condition on `runs`
 */
const runs = (some: string) =>
  deleted(
    `with due as materialized (
      select build, node_index, run from runs where ${some} limit ${SOME} for update skip locked
    ), gone as (
      delete from runs using due where runs.build = due.build and runs.node_index = due.node_index and runs.run = due.run
      returning runs.build, runs.test_files
    ), counts as (
      select build, count(*)::int4 as runs, sum(test_files)::int8 as files from gone group by build
    ), locked as materialized (
      select number from builds join counts on counts.build = number order by number for update of builds
    ), kept as (
      update builds set subsets = subsets - counts.runs, test_files = builds.test_files - counts.files, is_empty = subsets = counts.runs
      from counts join locked on locked.number = counts.build where builds.number = counts.build
    )`,
  );

/**
 * Deletes builds without runs. If one is created again, its runs count as later than all of those: whoever is creating it read the last
 * ordinal before, and has to begin again.
 */
const BUILDS = deleted(
  `with due as materialized (
    select number from builds where is_empty order by number limit ${SOME} for update skip locked
  ), gone as (
    delete from builds using due where builds.number = due.number returning builds.number, builds.project, builds.recorded
  ), locked as materialized (
    select id from projects where id in (select project from gone) order by id for update
  ), turned as (
    update projects set builds_turn = builds_turn + 1, builds_gone = builds_gone + 1 from locked where projects.id = locked.id
  ), summed as (
    delete from summaries using gone where summaries.build = gone.number
  ), failed as (
    delete from failures using gone where failures.build = gone.number
  ), last as (
    insert into ballast (name, value) select 'last_ordinal', max(recorded) from gone having max(recorded) is not null
    on conflict (name) do update set value = greatest(ballast.value, excluded.value)
  )`,
);

/**
 * Deletes splits or queues, with their pieces and what else belongs to them.
 *
 * @param rest the table with the rest, and the column with their id
 */
const plans = (table: 'splits' | 'queues', rest: [table: string, id: string], some: string) =>
  deleted(
    `with due as materialized (
      select id from ${table} where ${some} limit ${SOME} for update skip locked
    ), gone as (
      delete from ${table} using due where ${table}.id = due.id returning ${table}.id
    ), others as (
      delete from ${rest[0]} using gone where ${rest[1]} = gone.id
    ), pieced as (
      delete from pieces using gone where owner = gone.id
    )`,
  );
const splits = (some: string) => plans('splits', ['split_uses', 'split'], some);
const queues = (some: string) => plans('queues', ['journal', 'queue'], some);

const simple = (table: string, key: string, some: string, most: number = SOME) =>
  deleted(
    `with due as materialized (
      select ${key} from ${table} where ${some} limit ${most} for update skip locked
    ), gone as (
      delete from ${table} using due where ${key
        .split(', ')
        .map(column => `${table}.${column} = due.${column}`)
        .join(' and ')} returning 1
    )`,
  );

const ciRuns = (some: string) =>
  deleted(
    `with due as materialized (
      select id from ci_runs where ${some} limit ${SOME} for update skip locked
    ), gone as (
      delete from ci_runs using due where ci_runs.id = due.id returning ci_runs.id
    ), noted as (
      delete from nodes using gone where nodes.ci_run = gone.id
    ), others as (
      delete from spared using gone where spared.ci_run = gone.id
    )`,
  );

/** Deletes records that expire by time: $1 in milliseconds, or for days in whole days. */
const EXPIRED: readonly Step[] = [
  { kind: 'subset', text: runs('created_at < $1 order by created_at') },
  { kind: 'split', text: splits('used_at < $1 order by used_at') },
  { kind: 'queue', text: queues('used_at < $1 order by used_at') },
  { kind: 'ci_run', text: ciRuns('created_at < $1 order by created_at') },
  { kind: 'day', text: simple('days', 'project, branch, day', 'day < $1 and counted > 0 order by day'), isByDay: true },
  { kind: null, text: simple('days', 'project, branch, day', 'day < $1'), isByDay: true },
  { kind: null, text: simple('deliveries', 'project, key', 'created_at < $1 order by created_at') },
  { kind: null, text: simple('cases', 'project, file, piece', 'at < $1 order by at') },
];
/** A row for each process. */
const PROCESSES: readonly Step[] = [
  { kind: null, text: simple('processes', 'id', 'seen_at < $1') },
  { kind: null, text: simple('heard_nodes', 'process', 'at < $1') },
];
const PATHS: Step = { kind: 'path', text: simple('paths', 'number', 'seen_at < $1 order by seen_at', SOME_PATHS) };

/** Deletes builds of a project with their runs: as many as have so many runs. */
const BUILDS_OF_PROJECT = deleted(
  `with oldest as materialized (
    select number, subsets from builds where project = $1 and not is_empty order by number limit ${SOME} for update skip locked
  ), due as materialized (
    select number from (select number, sum(subsets) over (order by number) - subsets as before from oldest) as counted where before < ${SOME}
  ), built as (
    delete from builds using due where builds.number = due.number
  ), summed as (
    delete from summaries using due where summaries.build = due.number
  ), failed as (
    delete from failures using due where failures.build = due.number
  ), gone as (
    delete from runs using due where runs.build = due.number returning 1
  )`,
);

const PATHS_OF_PROJECT = `key >= convert_to($1::int4 || '/', 'UTF8') and key < convert_to($1 || '0', 'UTF8') order by key`;

/** Deletes the records of the deleted project $1. The keys of its paths are all that begin with its id, see path-keys.ts. */
const OF_PROJECT: readonly Step[] = [
  { kind: 'subset', text: BUILDS_OF_PROJECT },
  { kind: 'split', text: splits('project = $1') },
  { kind: 'queue', text: queues('project = $1') },
  { kind: 'ci_run', text: ciRuns('project = $1') },
  { kind: 'day', text: simple('days', 'project, branch, day', 'project = $1') },
  { kind: 'path', text: simple('paths', 'number', PATHS_OF_PROJECT, SOME_PATHS) },
  { kind: null, text: simple('unlearnt', 'project, entry', 'project = $1') },
  { kind: null, text: simple('batch_costs', 'project, mode', 'project = $1') },
  { kind: null, text: simple('deliveries', 'project, key', 'project = $1') },
  { kind: null, text: simple('cases', 'project, file, piece', 'project = $1') },
  { kind: null, text: simple('tokens', 'hash', 'project = $1') },
];

/** The tables by kind, with a key. */
const RECORDS = {
  build: ['builds', 'number'],
  subset: ['runs', 'build'],
  path: ['paths', 'number'],
  split: ['splits', 'id'],
  queue: ['queues', 'id'],
  ci_run: ['ci_runs', 'id'],
};
/** Counts the records of each kind, at most $1 of each, since it takes seconds to count millions. */
const LOAD = Object.entries(RECORDS)
  .map(
    ([kind, [table, key]]) =>
      `select '${kind}' as kind, case when n < $1 then n else greatest(n, (select reltuples from pg_class where oid = '${table}'::regclass)) end as count
      from (select count(*) as n from (select from ${table} order by ${key} limit $1) as counted) as least`,
  )
  .join(' union all ');

interface Parts {
  database: Database;
  learner: Pick<Learner, 'learn' | 'learnAll'>;
  pieces: Pick<Pieces, 'forget'>;
}

export function postgresqlMaintenance({ database, learner, pieces }: Parts) {
  /** Runs a statement until nothing is left that it deletes. Any number of processes share the work. */
  async function* repeat({ kind, text }: Step, value: number | null, count: Count): AsyncGenerator<number> {
    for (;;) {
      const { rows } = await database.changeMany<{ deleted: number }>(text, value === null ? [] : [value]);
      const number = rows[0]!.deleted;
      if (kind) for (let i = 0; i < number; i++) count(kind);
      if (number === 0) return;
      yield number;
    }
  }

  async function* sweepAll(times: { before: Millis; deletedBefore: Millis }, count: Count): AsyncGenerator<void> {
    // The clock of the sweeps may be between two milliseconds.
    const [before, deletedBefore] = [Math.floor(times.before), Math.floor(times.deletedBefore)];
    // The times of a run count also if it expires.
    await learner.learnAll();
    const gone = await database.read<{ id: number }>('select id from projects where deleted_at < $1 order by id', [deletedBefore]);
    const found = new Set<number>();
    for (const { id } of gone)
      for (const step of OF_PROJECT)
        for await (const _ of repeat(step, id, count)) {
          found.add(id);
          yield;
        }
    for (const step of EXPIRED) {
      const value = step.isByDay ? Math.ceil(before / DAY_MILLISECONDS) - 1 : before;
      for await (const _ of repeat(step, value, count)) yield;
    }
    for await (const _ of repeat({ kind: null, text: BUILDS }, null, count)) yield;
    for await (const _ of repeat(PATHS, before - LAST_USE_UPDATE_MILLISECONDS, count)) yield;
    for (const step of PROCESSES) for await (const _ of repeat(step, deletedBefore - DAY_MILLISECONDS, count)) yield;
    pieces.forget();
    for (const { id } of gone) {
      if (found.has(id)) continue;
      await database.change('delete from projects where id = $1', [id]);
      count('project');
    }
  }

  const processes: Processes = {
    async publish(status) {
      await database.change(
        `insert into processes (id, seen_at, status) values ($1, ${NOW}, $2)
        on conflict (id) do update set seen_at = excluded.seen_at, status = excluded.status`,
        [database.process, status],
      );
    },
    async leave() {
      await database.change('delete from processes where id = $1', [database.process]);
    },
    others: since =>
      database.read<{ status: string; at: Millis }>(
        'select status, seen_at as at from processes where id <> $1 and seen_at >= $2 and status is not null',
        [database.process, since],
      ),
  };

  return {
    processes,
    assertWritable() {
      // A balancer that takes out all processes answers for them at once, and no request can wait for a failover.
      if (database.awayMilliseconds() >= DATABASE_AWAY_MILLISECONDS) throw refusals.databaseAway(new Error('the database does not answer'));
    },
    // The watch asks the database all the time.
    probe: async () => {},
    async publish(what, project = null) {
      if (what === 'timings') await (project === null ? learner.learnAll() : learner.learn(project));
    },
    refresh() {},
    sweep: sweepAll,
    async load() {
      const [size] = await database.read<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
      const rows = await database.read<{ kind: string; count: number }>(LOAD, [COUNTED_RECORDS]);
      const records = Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
      return { bytes: size!.bytes, diskFreeBytes: null, journalRecords: 0, records, database: database.load() };
    },
  } satisfies Maintenance;
}
