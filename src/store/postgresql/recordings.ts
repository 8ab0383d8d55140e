import { randomUUID } from 'node:crypto';
import { buildDigest, digest, type NodeKey } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { NewRun, Recorded, Recordings } from '../../engine/ports/recordings.js';
import type { Millis } from '../../engine/ports/store.js';
import { defaultBranchAfter, newBuild, outcomeOf, pathOf } from '../../engine/recordings.js';
import { type Refusal, refusals } from '../../engine/refusal.js';
import { limits } from '../../limits.js';
import { newTimes, setTime, viewOf } from '../codecs/run-times.js';
import { keyColumns } from './builds.js';
import type { Database } from './connection.js';
import { isTaken } from './errors.js';
import { fromJson } from './json.js';
import type { Learner } from './learner.js';
import type { Paths } from './paths.js';

/** A run that waits to be recorded. */
interface Waiting {
  project: number;
  key: NodeKey;
  /** The digest of its build, see buildDigest. */
  build: string;
  run: NewRun;
  id: string;
  /** Set before it is written. */
  times: Buffer;
  isRetry: boolean;
  at: Millis;
  resolve: (recorded: Recorded) => void;
  reject: (error: unknown) => void;
}

/** What the database has of a run's build. */
interface Known {
  key: string;
  node_index: number;
  number: number;
  /** The last run of the node; null: it has none. */
  run: number | null;
  id: string | null;
  created_at: number | null;
  ci_run: number | null;
  times: Buffer | null;
  /** How many runs of the node are kept. */
  kept: number;
}

interface ProjectRow {
  builds_turn: number;
  /** As JSON. */
  default_branch: string | null;
  is_default_branch_set: boolean;
  /** The build of the project that was created last. */
  last_id: string | null;
  last_created_at: number | null;
  last_ordinal: number;
}

/**
 * Records runs in groups: what waits while a group is written is the next one. A group has one run of each node, and one of each build that
 * does not exist yet. What a statement rests on is read before; if that has changed meanwhile, nothing is written, and it is read again.
 */
export class RunRecorder implements Recordings {
  #waiting: Waiting[] = [];
  #isWriting = false;
  /** Projects that are known to have test cases. */
  readonly #withCases = new Set<number>();

  constructor(
    readonly database: Database,
    readonly paths: Paths,
    readonly learner: Learner,
  ) {}

  async record(project: number, key: NodeKey, run: NewRun, isRetry: boolean, at: Millis) {
    const value = await new Promise<Recorded>((resolve, reject) => {
      const [build, id, times] = [buildDigest(project, key), randomUUID(), newTimes(run.seconds.length)];
      this.#waiting.push({ project, key, build, run, id, times, isRetry, at, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
    return { value, saved: null };
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // Runs of the same turn of the event loop are one group.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#write(group);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isWriting = false;
  }

  /** Takes what can be written together: the others must see what these wrote. */
  #takeGroup(): Waiting[] {
    const nodes = new Set<string>();
    const group: Waiting[] = [];
    const later: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const node = `${waiting.build} ${waiting.key.node_index}`;
      if (group.length < limits.runsPerStatement && !nodes.has(node)) group.push(waiting);
      else later.push(waiting);
      nodes.add(node);
    }
    this.#waiting = later;
    return group;
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    await this.#setTimes(group);
    let left = [...group];
    for (let tries = 0; left.length > 0; tries++) {
      const known = await this.#read(left);
      const toAdd: { waiting: Waiting; known: Known }[] = [];
      const toCreate = new Map<string, Waiting>();
      let isFoundByReading = false;
      const done = new Map<Waiting, Recorded | Refusal>();
      for (const waiting of left) {
        const found = known.get(`${waiting.build} ${waiting.key.node_index}`);
        if (!found) {
          if (!toCreate.has(waiting.build)) toCreate.set(waiting.build, waiting);
          continue;
        }
        const outcome = found.id === waiting.id ? 'found' : outcomeOf(lastRunOf(found, waiting), waiting.isRetry, waiting.at);
        if (outcome === 'recorded') toAdd.push({ waiting, known: found });
        else done.set(waiting, outcome === 'found' ? 'recorded' : outcome);
        isFoundByReading ||= outcome !== 'recorded';
      }
      if (isFoundByReading) await this.database.confirm();
      const added = toAdd.length === 0 ? [] : await this.#add(toAdd);
      for (const waiting of added) done.set(waiting, 'recorded');
      for (const [waiting, outcome] of await this.#createAll([...toCreate.values()])) done.set(waiting, outcome);
      for (const [waiting, outcome] of done) {
        if (outcome === 'recorded') this.learner.note(waiting.project);
        if (typeof outcome === 'string') waiting.resolve(outcome);
        else waiting.reject(outcome);
      }
      left = left.filter(waiting => !done.has(waiting));
      if (tries === limits.databaseConflicts && left.length > 0)
        throw new Error('runs could not be recorded: others changed their builds each time');
    }
  }

  /** Sets the times of runs, under the numbers of their paths. */
  async #setTimes(group: readonly Waiting[]): Promise<void> {
    for (const [project, runs] of byProject(group)) {
      const paths = runs.map(({ run }) => Array.from(run.seconds, (_, i) => pathOf(run, i)));
      const numbers = await this.paths.intern(project, paths.flat(), Math.max(...runs.map(({ at }) => at)));
      let at = 0;
      for (const { run, times } of runs) {
        const view = viewOf(times);
        for (let i = 0; i < run.seconds.length; i++) setTime(view, i, numbers[at++]!, run.seconds[i]!);
      }
    }
  }

  /** What the database has of the builds of runs, by build and node. */
  async #read(runs: readonly Waiting[]): Promise<Map<string, Known>> {
    const rows = await this.database.read<Known>(
      `select v.key, v.node_index, builds.number, l.run, l.id, l.created_at, l.ci_run, l.times, coalesce(k.kept, 0) as kept
      from unnest($1::text[], $2::int4[]) as v (key, node_index) join builds on builds.key = v.key
      left join lateral (
        select run, id, created_at, ci_run, times from runs where build = builds.number and node_index = v.node_index order by run desc limit 1
      ) l on true
      left join lateral (select count(*) as kept from runs where l.run is not null and build = builds.number and node_index = v.node_index) k on true`,
      [runs.map(({ build }) => build), runs.map(({ key }) => key.node_index)],
    );
    return new Map(rows.map(row => [`${row.key} ${row.node_index}`, row]));
  }

  /** Adds runs to builds that exist. Returns those that were added: a build may have expired, or another run may have the number. */
  async #add(runs: readonly { waiting: Waiting; known: Known }[]): Promise<Waiting[]> {
    const nth = new Map<number, number>();
    const columns = runs.map(({ waiting, known: { number, run } }) => {
      nth.set(number, (nth.get(number) ?? 0) + 1);
      return { ...waiting, number, nth: nth.get(number)!, last: (run ?? 0) + 1 };
    });
    const of = <T>(column: (run: (typeof columns)[number]) => T) => columns.map(column);
    try {
      const { rows } = await this.database.change<{ id: string }>(
        `with v as (
          select * from unnest($1::int4[], $2::int4[], $3::int4[], $4::int4[], $5::text[], $6::int8[], $7::int8[], $8::int8[], $9::int4[], $10::bytea[])
          as v (build, nth, node_index, run, id, at, ci_run, asked_at, test_files, times)
        ), l as materialized (
          select number from builds where number = any($1) order by number for update
        ), n as (
          select build, count(*)::int4 as runs, sum(test_files)::int8 as files, max(at) as at from v group by build
        ), b as (
          update builds set recorded = recorded + n.runs, subsets = subsets + n.runs, is_empty = false, test_files = test_files + n.files, updated_at = greatest(updated_at, n.at)
          from n join l on l.number = n.build where builds.number = n.build returning builds.number, builds.project, builds.recorded - n.runs as before
        ), r as (
          insert into runs (build, node_index, run, id, created_at, ordinal, ci_run, asked_at, test_files, times)
          select v.build, v.node_index, v.run, v.id, v.at, b.before + v.nth, v.ci_run, v.asked_at, v.test_files, v.times from v join b on b.number = v.build
          returning build, node_index, run, id
        ), u as (
          insert into unlearnt (project, build, node_index, run)
          select b.project, r.build, r.node_index, r.run from r join b on b.number = r.build order by b.before, r.id
        )
        select id from r`,
        [
          of(run => run.number),
          of(run => run.nth),
          of(run => run.key.node_index),
          of(run => run.last),
          of(run => run.id),
          of(run => run.at),
          of(run => run.run.ci_run),
          of(run => run.run.asked_at),
          of(run => run.run.seconds.length),
          of(run => run.times),
        ],
      );
      for (const { waiting } of runs) if (waiting.run.hasTestCases) await this.#noteTestCases(waiting.project);
      const ids = new Set(rows.map(({ id }) => id));
      return runs.map(({ waiting }) => waiting).filter(({ id }) => ids.has(id));
    } catch (error) {
      if (isTaken(error)) return [];
      throw error;
    }
  }

  async #noteTestCases(project: number): Promise<void> {
    if (this.#withCases.has(project)) return;
    await this.database.change('update projects set has_test_cases = true where id = $1 and not has_test_cases', [project]);
    this.#withCases.add(project);
  }

  /** Creates builds with a first run each, those of a project one after another. Leaves out those that others created meanwhile. */
  async #createAll(runs: readonly Waiting[]): Promise<Map<Waiting, Recorded | Refusal>> {
    const outcomes = new Map<Waiting, Recorded | Refusal>();
    const createIn = async (own: readonly Waiting[]) => {
      for (const waiting of own) {
        const outcome = await this.#create(waiting);
        if (outcome) outcomes.set(waiting, outcome);
      }
    };
    await Promise.all(byProject(runs).map(([, own]) => createIn(own)));
    return outcomes;
  }

  /** Creates a build with its first run. Null: another process changed the builds of the project meanwhile. */
  async #create({ project, key, run, id, times, at }: Waiting): Promise<'recorded' | Refusal | null> {
    const [before] = await this.database.read<ProjectRow>(
      `select builds_turn, default_branch, is_default_branch_set, l.id as last_id, l.created_at as last_created_at,
        coalesce((select value from ballast where name = 'last_ordinal'), 0) as last_ordinal
      from projects left join lateral (select id, created_at from builds where project = projects.id order by number desc limit 1) l on true
      where projects.id = $1`,
      [project],
    );
    if (!before) return refusals.expired('project');
    const last = before.last_id === null ? undefined : { id: before.last_id, created_at: before.last_created_at! };
    const build: Omit<Build, 'number'> = newBuild(project, key, last, before.last_ordinal, at);
    const known = { ...before, default_branch: fromJson<string>(before.default_branch) };
    const counts = await this.#countBuilds(project, [key.branch, known.default_branch ?? key.branch]);
    const buildsOf = (branch: string) => counts.get(digest(branch))! + Number(branch === key.branch);
    const columns = keyColumns(project, key);
    const { rows } = await this.database.change<{ build: number }>(
      `with p as (
        update projects set builds_turn = builds_turn + 1, default_branch = case when is_default_branch_set then default_branch else $3 end, has_test_cases = has_test_cases or $4
        where id = $1 and builds_turn = $2 returning id
      ), b as (
        insert into builds (key, id, project, commit_key, branch_key, node_total, names, created_at, updated_at, recorded, subsets, test_files)
        select $5, $6, id, $7, $8, $9, $10, $11, $11, $12, 1, $13 from p on conflict (key) do nothing returning number
      ), r as (
        insert into runs (build, node_index, run, id, created_at, ordinal, ci_run, asked_at, test_files, times)
        select number, $14, 1, $15, $11, $12, $16, $17, $13, $18 from b returning build
      )
      insert into unlearnt (project, build, node_index, run) select $1, build, $14, 1 from r returning build`,
      [
        ...[project, before.builds_turn, JSON.stringify(defaultBranchAfter(known, key.branch, buildsOf)), run.hasTestCases],
        ...[columns.key, build.id, columns.commit_key, columns.branch_key, columns.node_total, columns.names],
        ...[at, build.recorded + 1, run.seconds.length, key.node_index, id, run.ci_run, run.asked_at, times],
      ],
    );
    return rows.length === 1 ? 'recorded' : null;
  }

  /** How many builds branches have, by the digests of these. */
  async #countBuilds(project: number, branches: readonly string[]): Promise<Map<string, number>> {
    const keys = [...new Set(branches)].map(branch => digest(branch));
    // The count of a branch is never compared with itself.
    if (keys.length === 1) return new Map([[keys[0]!, 0]]);
    const rows = await this.database.read<{ branch_key: string; count: number }>(
      'select branch_key, count(*) from builds where project = $1 and branch_key = any($2) group by branch_key',
      [project, keys],
    );
    return new Map([...keys.map(key => [key, 0] as const), ...rows.map(({ branch_key, count }) => [branch_key, count] as const)]);
  }
}

function lastRunOf({ run, created_at, ci_run, times, kept }: Known, waiting: Waiting) {
  if (run === null) return null;
  const isSame = waiting.isRetry && ci_run === waiting.run.ci_run && times!.equals(waiting.times);
  return { created_at: created_at!, isSame, kept };
}

function byProject(runs: readonly Waiting[]): [project: number, runs: Waiting[]][] {
  const projects = new Map<number, Waiting[]>();
  for (const run of runs) {
    const own = projects.get(run.project);
    if (own) own.push(run);
    else projects.set(run.project, [run]);
  }
  return [...projects];
}
