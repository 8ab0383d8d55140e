import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { groupBy } from '../../../base/group-by.js';
import type { Caller } from '../../engine/caller.js';
import { buildDigest, digest, type NodeKey } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { NewRun, Recorded, Recordings } from '../../engine/ports/recordings.js';
import type { Millis } from '../../engine/ports/store.js';
import { FIRST_PUBLIC_SIDE } from '../../engine/public-side/side.js';
import { defaultBranchAfter, newBuild, outcomeAmongProcesses, pathOf, withRun } from '../../engine/recordings.js';
import { Refusal, refusals } from '../../engine/refusal.js';
import { afterOthers } from '../after-others.js';
import { newTimes, setTime, viewOf } from '../codecs/run-times.js';
import { keyColumns } from './builds.js';
import type { Database } from './connection/database.js';
import { isTaken } from './connection/errors.js';
import { BOUNDS } from './connection/options.js';
import { pauseAfterLoss } from './connection/pause.js';
import { type Columns, PATHS_PER_STATEMENT, rowsOf } from './connection/sql.js';
import { fromJson } from './json.js';
import type { Learner } from './learner.js';
import type { PathList, Paths } from './paths.js';
import { PATHS_PER_CHANGE } from './paths.js';

/** Runs that one statement records. */
const RUNS_PER_STATEMENT = 64;
/** Builds that a process knows to be in its database. */
const KNOWN_BUILDS = 10_000;
/** Test files of all runs that one statement records, unless it is one run. A file has 12 bytes. */
export const FILES_PER_STATEMENT = 100_000;
/** Builds of a branch that are counted to choose a default branch in a database. */
const COMPARED_BUILDS = 1000;

/** A run that waits to be recorded. */
interface Waiting {
  project: number;
  key: NodeKey;
  /** The digest of its build, see buildDigest. */
  build: string;
  run: NewRun;
  id: string;
  /** Set before it is written, under the numbers of the paths. */
  times: Buffer;
  /** `large`: its paths are being numbered, by themselves. */
  state: 'new' | 'large' | 'set';
  caller: Caller;
  at: Millis;
  /** When it is refused, in milliseconds of the monotonic clock. */
  until: number;
  /** Number of the run that is taken for the last one of its node in the build; 0: it has none, as nearly always. */
  last: number;
  resolve: (recorded: Recorded) => void;
  reject: (error: unknown) => void;
}

/** Records that the database has of a run and its build. */
interface Found {
  id: string;
  is_added: boolean;
  is_build: boolean;
  /** The last run of its node before; null: it had none. */
  last: number | null;
  last_run: string | null;
  last_at: number | null;
  /** True if its client said that it had sent the run before. */
  last_repeated: boolean | null;
  /** True if the last run has the same CI run, test files and times. */
  is_same: boolean | null;
  /** Number of runs of the node that are kept. */
  kept: number;
}

/** Records that the creation of a build rests on. */
interface Creating {
  project: number;
  builds_turn: number;
  /** As JSON. */
  default_branch: string | null;
  is_default_branch_set: boolean;
  /** The build of the project that was created last. */
  newest_id: string | null;
  newest_at: number | null;
  last_ordinal: number;
  /** The digests of the builds that exist, of those that were looked for. */
  builds: string[];
}

const BUILD_COLUMNS: Columns<Omit<Build, 'number'> & ReturnType<typeof keyColumns>> = {
  key: ['text', ({ key }) => key],
  id: ['text', ({ id }) => id],
  commit_key: ['text', ({ commit_key }) => commit_key],
  branch_key: ['text', ({ branch_key }) => branch_key],
  node_total: ['int4', ({ node_total }) => node_total],
  names: ['text', ({ names }) => names],
  created_at: ['int8', ({ created_at }) => created_at],
  updated_at: ['int8', ({ updated_at }) => updated_at],
  recorded: ['int4', ({ recorded }) => recorded],
  subsets: ['int4', ({ subsets }) => subsets],
  test_files: ['int4', ({ test_files }) => test_files],
};

/**
 * Records runs in groups: what waits while a group is written is the next one. A group has one run of each node. A statement names what it rests
 * on, which is the last run of each node, or the turn of the builds of a project. Where that has changed nothing is written, and it is tried
 * again, until the client has stopped waiting.
 *
 * The paths of a large run are numbered before it is in a group, with many statements, which other runs pass: each project has one large run at a time.
 * If its client stops waiting, the paths keep their numbers, so that the repeated request goes on where this one ended.
 */
export class RunRecorder implements Recordings {
  #waiting: Waiting[] = [];
  #isWriting = false;
  /** The last of the large runs of projects whose paths are numbered. */
  readonly #large = new Map<number, Promise<unknown>>();
  /** The digests of builds that existed when this process last had to do with them. */
  readonly #builds = new LRUCache<string, true>({ max: KNOWN_BUILDS });
  /** Projects that are known to have test cases. */
  readonly #withCases = new Set<number>();

  constructor(
    readonly database: Database,
    readonly paths: Paths,
    readonly learner: Learner,
  ) {}

  async record(project: number, key: NodeKey, run: NewRun, caller: Caller, at: Millis) {
    const value = await new Promise<Recorded>((resolve, reject) => {
      const [build, id, times] = [buildDigest(project, key), randomUUID(), newTimes(run.seconds.length)];
      const until = performance.now() + BOUNDS.wait;
      const state = run.seconds.length > PATHS_PER_CHANGE ? ('large' as const) : ('new' as const);
      const waiting: Waiting = { project, key, build, run, id, times, state, caller, at, until, last: 0, resolve, reject };
      this.#waiting.push(waiting);
      if (state === 'large') this.#prepare(waiting);
      else this.#writeSoon();
    });
    return { value, saved: null };
  }

  /** Sets the times of a large run, after those of its project that came before. */
  #prepare(waiting: Waiting): void {
    const { project } = waiting;
    const prepare = async () => {
      try {
        await this.#setTimes(project, [waiting]);
      } catch (error) {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        waiting.reject(error);
      }
      // Other runs of its node have waited for it.
      this.#writeSoon();
    };
    void afterOthers(this.#large, project, prepare);
  }

  #writeSoon(): void {
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // Runs of the same turn of the event loop are one group.
    await Promise.resolve();
    for (let group = this.#takeGroup(); group.length > 0; group = this.#takeGroup()) await this.#write(group);
    this.#isWriting = false;
  }

  /** Takes what can be written together: of a node, the others must see what the first one wrote. */
  #takeGroup(): Waiting[] {
    const nodes = new Set<string>();
    const group: Waiting[] = [];
    const later: Waiting[] = [];
    let files = 0;
    let unset = 0;
    for (const waiting of this.#waiting) {
      const node = `${waiting.build} ${waiting.key.node_index}`;
      const { length } = waiting.run.seconds;
      if (waiting.state !== 'large') files += length;
      if (waiting.state === 'new') unset += length;
      const hasRoom =
        group.length === 0 || (group.length < RUNS_PER_STATEMENT && files <= FILES_PER_STATEMENT && unset <= PATHS_PER_STATEMENT);
      if (waiting.state !== 'large' && hasRoom && !nodes.has(node)) group.push(waiting);
      else later.push(waiting);
      nodes.add(node);
    }
    this.#waiting = later;
    return group;
  }

  /** Resolves when each run is recorded or refused. */
  async #write(group: readonly Waiting[]): Promise<void> {
    const left = new Set(group);
    try {
      const unset = group.filter(({ state }) => state === 'new');
      for (const [project, runs] of groupBy(unset, ({ project }) => project)) await this.#setTimes(project, runs);
      for (const { project, run } of group) if (run.hasTestCases) await this.#noteTestCases(project);
      while (left.size > 0) {
        refuseLate(left);
        const isLost = await this.#writeOnce(left);
        if (isLost) await pauseAfterLoss();
      }
    } catch (error) {
      // It may be about one of the runs.
      if (left.size > 1 && !(error instanceof Refusal)) for (const waiting of left) await this.#write([waiting]);
      else for (const { reject } of left) reject(error);
    }
  }

  /** Writes what it can, and takes that from `left`. Returns whether another process changed meanwhile what it rests on. */
  async #writeOnce(left: Set<Waiting>): Promise<boolean> {
    const unknown = [...left].filter(({ build }) => !this.#builds.has(build));
    const creating = await this.#look(unknown);
    // A build that was found may have pushed another one, which needed no look, out of the cache. Only unknown builds are created.
    const toCreate = unknown.filter(({ build }) => !this.#builds.has(build));
    const toAdd = [...left].filter(waiting => !toCreate.includes(waiting));
    const writes = Array.from(
      groupBy(toCreate, ({ project }) => project),
      async ([project, own]) => {
        const found = creating.get(project);
        if (!found) {
          refuse(left, own, refusals.expired('project'));
          return true;
        }
        if (!(await this.#create(own, found))) return false;
        for (const waiting of own) this.#end(left, waiting, 'recorded');
        return true;
      },
    );
    if (toAdd.length > 0) writes.push(this.#addTo(left, toAdd));
    const outcomes = await Promise.allSettled(writes);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return outcomes.some(outcome => outcome.status === 'fulfilled' && !outcome.value);
  }

  #end(left: Set<Waiting>, waiting: Waiting, outcome: Recorded): void {
    left.delete(waiting);
    this.#builds.set(waiting.build, true);
    if (outcome === 'recorded') this.learner.note(waiting.project);
    waiting.resolve(outcome);
  }

  /** Finds which of the builds of some runs exist, and what the creation of the others rests on, by project. */
  async #look(runs: readonly Waiting[]): Promise<Map<number, Creating>> {
    if (runs.length === 0) return new Map();
    const rows = await this.database.read<Creating>(
      `select projects.id as project, builds_turn, default_branch, is_default_branch_set, n.id as newest_id, n.created_at as newest_at,
        coalesce((select value from ballast where name = 'last_ordinal'), 0) as last_ordinal,
        array(
          select b.key from unnest($2::text[]) as v (key) cross join lateral (select key from builds where key = v.key limit 1) b
        ) as builds
      from projects left join lateral (
        -- In the order of an index of the project: that of the numbers alone may lead through the builds of all projects.
        select id, created_at from builds where (project, number) > (projects.id, 0) and (project, number) <= (projects.id, 2147483647)
        order by project desc, number desc limit 1
      ) n on true
      where projects.id = any($1::int4[])`,
      [[...new Set(runs.map(({ project }) => project))], [...new Set(runs.map(({ build }) => build))]],
    );
    for (const { builds } of rows) for (const build of builds) this.#builds.set(build, true);
    return new Map(rows.map(row => [row.project, row]));
  }

  /** Adds runs to builds that exist. Returns whether what it rests on is as it was. */
  async #addTo(left: Set<Waiting>, runs: readonly Waiting[]): Promise<boolean> {
    const rows = await this.#add(runs);
    if (!rows) return false;
    let isLost = false;
    const known: Waiting[] = [];
    for (const waiting of runs) {
      const found = rows.get(waiting.id)!;
      if (found.is_added) this.#end(left, waiting, 'recorded');
      else if (knownOutcome(waiting, found)) known.push(waiting);
      else if (!found.is_build) this.#builds.delete(waiting.build);
      else {
        const last = found.last ?? 0;
        // The build expired while the statement waited for it.
        isLost ||= last === waiting.last;
        waiting.last = last;
      }
    }
    // What was found may have reached no standby.
    const lasting = known.length === 0 ? null : await this.#add(known, true);
    for (const waiting of known) {
      const found = lasting?.get(waiting.id);
      const outcome = found && (found.is_added ? 'recorded' : knownOutcome(waiting, found));
      if (outcome) this.#end(left, waiting, outcome);
      else isLost = true;
    }
    return !isLost;
  }

  /** Sets the times of runs of a project, under the numbers of their paths. */
  async #setTimes(project: number, runs: readonly Waiting[]): Promise<void> {
    const lists = runs.map(({ run }) => pathsOf(run));
    // All paths of a large run at once would take 200 ms.
    const paths = lists.length === 1 ? lists[0]! : lists.flatMap(list => list.slice(0, list.length));
    const until = Math.max(...runs.map(each => each.until));
    const numbers = await this.paths.intern(project, paths, Math.max(...runs.map(({ at }) => at)), () => {
      if (performance.now() >= until) throw tooLate();
    });
    let at = 0;
    for (const waiting of runs) {
      const { run, times } = waiting;
      const view = viewOf(times);
      for (let i = 0; i < run.seconds.length; i++) setTime(view, i, numbers[at++]!, run.seconds[i]!, run.outcomes?.[i] ?? 0);
      waiting.state = 'set';
    }
  }

  async #noteTestCases(project: number): Promise<void> {
    if (this.#withCases.has(project)) return;
    await this.database.change('update projects set has_test_cases = true where id = $1 and not has_test_cases', [project]);
    this.#withCases.add(project);
  }

  /**
   * Adds runs to builds that exist, where the last run of the node is as expected. Returns what was found of each run, by its id. Null: another
   * process added a run of one of the nodes meanwhile.
   *
   * @param isDurable what is found does not vanish
   */
  async #add(runs: readonly Waiting[], isDurable = false): Promise<Map<string, Found> | null> {
    try {
      const values: unknown[] = [];
      const text = `with v as materialized (
          select v.*, b.number, l.last as last_found, last_run, last_at, last_repeated, l.ci_run = v.ci_run and l.times = v.times as is_same
          from (${runsOf(runs, values)}) v
          left join lateral (select number from builds where key = v.build limit 1) b on true
          left join lateral (
            select run as last, id as last_run, created_at as last_at, is_repeated as last_repeated, ci_run, times from runs
            where build = b.number and node_index = v.node_index order by run desc limit 1
          ) l on true
        ), due as (
          select v.*, (row_number() over (partition by number order by nth))::int4 as nth_of_build from v
          where number is not null and last = coalesce(last_found, 0)
        ), l as materialized (
          select l.number from (select distinct number from due order by number) d
          cross join lateral (select number from builds where number = d.number limit 1 for update) l
        ), n as (
          select number, count(*)::int4 as runs, sum(test_files)::int8 as files, max(at) as at from due group by number
        ), b as (
          update builds set recorded = recorded + n.runs, subsets = subsets + n.runs, is_empty = false, test_files = test_files + n.files, updated_at = greatest(updated_at, n.at)
          from n join l on l.number = n.number where builds.number = n.number returning builds.number, builds.recorded - n.runs as before
        ), r as (
          insert into runs (build, node_index, run, id, created_at, ordinal, ci_run, asked_at, has_no_test, is_repeated, test_files, times)
          select b.number, node_index, last + 1, id, at, before + nth_of_build, ci_run, asked_at, has_no_test, is_repeated, test_files, times
          from due join b on b.number = due.number returning id
        ), u as (
          insert into unlearnt (project, build, node_index, run)
          select project, number, node_index, last + 1 from due join r on r.id = due.id where project < ${FIRST_PUBLIC_SIDE} order by nth
        )
        select v.id, r.id is not null as is_added, v.number is not null as is_build, last_found as last, last_run, last_at, last_repeated, is_same,
          case when r.id is null and last_found > 0 then (select count(*) from runs where build = v.number and node_index = v.node_index) else 0 end as kept
        from v left join r on r.id = v.id`;
      const rows = isDurable
        ? await this.database.readDurably<Found>(text, values)
        : (await this.database.change<Found>(text, values)).rows;
      return new Map(rows.map(row => [row.id, row]));
    } catch (error) {
      if (isTaken(error)) return null;
      throw error;
    }
  }

  /** Creates builds of a project with their first runs. Returns whether it did: another process may have changed the builds meanwhile. */
  async #create(runs: readonly Waiting[], found: Creating): Promise<boolean> {
    const { project } = found;
    const builds = new Map<string, Omit<Build, 'number'>>();
    let newest = found.newest_id === null ? undefined : { id: found.newest_id, created_at: found.newest_at! };
    for (const { build, key, run, at } of runs) {
      const known = builds.get(build) ?? newBuild(project, key, newest, found.last_ordinal, at);
      Object.assign(known, withRun(known, run.seconds.length, at));
      builds.set(build, known);
      newest = known;
    }
    const created = [...builds.values()];
    const default_branch = await this.#defaultBranchAfter(
      project,
      found,
      created.map(({ branch }) => branch),
    );
    const rows = created.map(build => ({ ...build, ...keyColumns(project, build) }));
    const values = [project, found.builds_turn, JSON.stringify(default_branch)];
    const { count } = await this.database.change(
      `with v as materialized (
        ${runsOf(runs, values)}
      ), p as (
        update projects set builds_turn = builds_turn + 1, default_branch = case when is_default_branch_set then default_branch else $3 end
        where id = $1 and builds_turn = $2 returning id
      ), b as (
        insert into builds (project, key, id, commit_key, branch_key, node_total, names, created_at, updated_at, recorded, subsets, test_files)
        select p.id, c.key, c.id, commit_key, branch_key, node_total, names, created_at, updated_at, recorded, subsets, test_files
        from p, ${rowsOf('c', BUILD_COLUMNS, rows, values)}
        order by nth returning number, key, recorded - subsets as before
      ), r as (
        insert into runs (build, node_index, run, id, created_at, ordinal, ci_run, asked_at, has_no_test, is_repeated, test_files, times)
        select b.number, node_index, 1, v.id, at, before + row_number() over (partition by build order by nth), ci_run, asked_at, has_no_test, is_repeated, test_files, times
        from v join b on b.key = v.build returning id, build, node_index
      )
      insert into unlearnt (project, build, node_index, run)
      select project, r.build, r.node_index, 1 from v join r on r.id = v.id where project < ${FIRST_PUBLIC_SIDE} order by nth`,
      values,
    );
    return count === runs.length;
  }

  /** The default branch after builds of branches are created. */
  async #defaultBranchAfter(project: number, { default_branch, is_default_branch_set }: Creating, branches: readonly string[]) {
    let isCounted = false;
    const choose = (counts: ReadonlyMap<string, number>) => {
      const created = new Map<string, number>();
      let chosen = fromJson<string>(default_branch);
      for (const branch of branches) {
        created.set(branch, (created.get(branch) ?? 0) + 1);
        chosen = defaultBranchAfter({ default_branch: chosen, is_default_branch_set }, branch, name => {
          isCounted = true;
          return (counts.get(digest(name)) ?? 0) + (created.get(name) ?? 0);
        });
      }
      return chosen;
    };
    const chosen = choose(new Map());
    // Nearly always it does not depend on the counts.
    if (!isCounted) return chosen;
    const names = new Set([...branches, fromJson<string>(default_branch)!]);
    const rows = await this.database.read<{ branch: string; count: number }>(
      `select branch, (select count(*) from (select 1 from builds where project = $1 and branch_key = branch limit $3) counted) as count
      from unnest($2::text[]) as v (branch)`,
      [project, Array.from(names, name => digest(name)), COMPARED_BUILDS],
    );
    return choose(new Map(rows.map(({ branch, count }) => [branch, count])));
  }
}

/** Runs as rows. The times of all are one value: an array of bytes would be sent as text of twice the size. */
function runsOf(runs: readonly Waiting[], values: unknown[]): string {
  const times = values.push(Buffer.concat(runs.map(run => run.times)));
  let end = 1;
  const columns: Columns<Waiting> = {
    project: ['int4', ({ project }) => project],
    build: ['text', ({ build }) => build],
    node_index: ['int4', ({ key }) => key.node_index],
    last: ['int4', ({ last }) => last],
    id: ['text', ({ id }) => id],
    at: ['int8', ({ at }) => at],
    ci_run: ['int8', ({ run }) => run.ci_run],
    asked_at: ['int8', ({ run }) => run.asked_at],
    has_no_test: ['boolean', ({ run }) => run.has_no_test],
    test_files: ['int4', ({ run }) => run.seconds.length],
    first: ['int4', run => (end += run.times.length) - run.times.length],
    bytes: ['int4', run => run.times.length],
    is_repeated: ['boolean', ({ caller }) => caller.isRetry],
  };
  return `select project, build, node_index, last, id, at, ci_run, asked_at, has_no_test, is_repeated, test_files, substr($${times}::bytea, first, bytes) as times, nth
  from ${rowsOf('v', columns, runs, values)}`;
}

/** Outcome of a run that need not be recorded any more, or is refused; null: it is to be recorded. */
function knownOutcome({ id, caller, at }: Waiting, { last, last_run, last_at, last_repeated, is_same, kept }: Found): Recorded | null {
  if (last === null) return null;
  const run = { created_at: last_at!, isSame: is_same!, kept, isItself: last_run === id, isRepeated: last_repeated! };
  return outcomeAmongProcesses(run, caller, at);
}

function pathsOf(run: NewRun): PathList {
  const { length } = run.seconds;
  return { length, slice: (from, to) => Array.from({ length: Math.min(to, length) - from }, (_, i) => pathOf(run, from + i)) };
}

/** Refuses runs whose clients no longer wait for the answer: they may have repeated the request, and gone on. */
function refuseLate(left: Set<Waiting>): void {
  const late = [...left].filter(({ until }) => performance.now() >= until);
  refuse(left, late, tooLate());
}

const tooLate = () => refusals.databaseAway(new Error('the run waited for too long'));

function refuse(left: Set<Waiting>, some: readonly Waiting[], refusal: Refusal): void {
  for (const waiting of some) {
    left.delete(waiting);
    waiting.reject(refusal);
  }
}
