import type { Build } from '../../engine/ports/builds.js';
import type { TestFileList } from '../../engine/suites/compare-lists.js';
import { problemsOfQueue, problemsOfSplit, type StoredQueue } from '../check/plans.js';
import { ofRecord, type Problem, type ProblemOf, problemOf, type Seen } from '../check/problem.js';
import { pathKey } from '../codecs/path-keys.js';
import { decodePart } from '../codecs/plan-parts.js';
import { batchesIn } from '../codecs/queue-changes.js';
import { decodeTimings } from '../codecs/timing-codec.js';
import { keyColumns } from './builds.js';
import type { Database } from './connection/database.js';
import { PATHS_PER_STATEMENT } from './connection/sql.js';
import { fromNames } from './json.js';
import { PARTS } from './plans/pieces.js';
import { greatestNumber, IDENTITIES, lastNumber, setIdentity } from './schema.js';

/** Builds, and owners of pieces, that one statement of a check compares. */
const CHECKED_PER_STATEMENT = 500;

/**
 * Returns what is inconsistent in a database. Servers may be writing to it meanwhile: what is compared is read with one statement, which sees
 * one state. A repair changes only what is still as it was found. These are no problems: a run that is to be learned and has expired, and a CI
 * run without its split or queue.
 */
export async function* problemsOf(database: Database, seen: Seen): AsyncGenerator<Problem> {
  yield* problemsOfBuilds(database, seen);
  yield* problemsOfRuns(database, seen);
  yield* problemsOfPaths(database, seen);
  yield* problemsOfPlans(database, 'splits', seen);
  yield* problemsOfPlans(database, 'queues', seen);
  yield* problemsOfOwners(database, seen);
  yield* problemsOfProjects(database, seen);
  yield* problemsOfIdentities(database);
}

/** Reads rows by a key, some of them with each statement: $1 is the key of the last one, and $2 how many. */
async function* rowsOf<Row>(database: Database, text: string, before: unknown, keyOf: (row: Row) => unknown, some: number) {
  for (let last = before, count = some; count === some; ) {
    const rows = await database.read<Row>(text, [last, some]);
    yield* rows;
    count = rows.length;
    if (count > 0) last = keyOf(rows.at(-1)!);
  }
}

type BuildFigures = Pick<Build, 'number' | 'project' | 'updated_at' | 'recorded' | 'subsets' | 'test_files'>;

interface CountedBuild extends BuildFigures, ReturnType<typeof keyColumns> {
  is_empty: boolean;
  /** The same figures, counted from the runs of the build. */
  runs: number;
  files: number;
  ordinals: number;
  last: number;
  newest: number;
}

async function* problemsOfBuilds(database: Database, seen: Seen): AsyncGenerator<Problem> {
  const text = `select b.*, r.* from (
      select number, project, key, commit_key, branch_key, node_total, names, updated_at, recorded, subsets, test_files, is_empty
      from builds where number > $1 order by number limit $2
    ) b cross join lateral (
      select count(*) as runs, coalesce(sum(test_files), 0)::int8 as files, count(distinct ordinal) as ordinals,
        coalesce(max(ordinal), 0) as last, coalesce(max(created_at), 0) as newest from runs where build = b.number
    ) r order by b.number`;
  for await (const build of rowsOf<CountedBuild>(database, text, 0, row => row.number, CHECKED_PER_STATEMENT)) {
    seen('builds');
    const { number, project } = build;
    yield* ofRecord('builds', number, () => problemsOfBuild(database, build, problemOf('builds', number, project)), project);
  }
}

function* problemsOfBuild(database: Database, build: CountedBuild, problem: ProblemOf): Generator<Problem> {
  const { number, project, recorded, subsets, test_files, is_empty, updated_at, runs, files, ordinals, last, newest } = build;
  // A run that is recorded or expires meanwhile changes one of the counters.
  const recount = () =>
    database.change(
      `update builds set recorded = greatest(recorded, $5), subsets = $6, test_files = $7, is_empty = $6 = 0, updated_at = greatest(updated_at, $8)
      where number = $1 and recorded = $2 and subsets = $3 and test_files = $4`,
      [number, recorded, subsets, test_files, last, runs, files, newest],
    );
  if (last > recorded) yield problem(`counts ${recorded} runs ever recorded, but has run ${last}`, recount);
  if (subsets !== runs || test_files !== files)
    yield problem(`counts ${subsets} runs with ${test_files} test files, but has ${runs} runs with ${files} test files`, recount);
  else if (is_empty !== (runs === 0)) yield problem(runs === 0 ? 'has no recorded run' : 'would expire with its runs', recount);
  if (newest > updated_at) yield problem(`was updated at ${updated_at}, but has a run of ${newest}`, recount);
  if (ordinals < runs) yield problem('has two runs with the same ordinal');
  const expected = keyColumns(project, { ...fromNames(build.names), node_total: build.node_total });
  for (const column of ['key', 'commit_key', 'branch_key'] as const)
    if (build[column] !== expected[column]) yield problem(`has the ${column} of another build`);
}

async function* problemsOfRuns(database: Database, seen: Seen): AsyncGenerator<Problem> {
  const text = `select b.build, b.project, r.damaged, r.runs from (
      select build, (select project from builds where number = build) as project from runs where build > $1 group by build order by build limit $2
    ) b cross join lateral (
      select count(*) as runs, count(*) filter (where octet_length(times) <> 12 * test_files) as damaged from runs where build = b.build
    ) r order by b.build`;
  type Row = { build: number; project: number | null; damaged: number; runs: number };
  for await (const { build, project, damaged, runs } of rowsOf<Row>(database, text, -1, row => row.build, CHECKED_PER_STATEMENT)) {
    for (let i = 0; i < runs; i++) seen('runs');
    const problem = problemOf('runs', build, project);
    if (damaged > 0) yield problem('has times that are not those of its test files');
    const remove = () =>
      database.change('delete from runs where build = $1 and not exists (select from builds where number = $1)', [build]);
    if (project === null) yield problem('is of a build that does not exist', remove);
  }
}

async function* problemsOfPaths(database: Database, seen: Seen): AsyncGenerator<Problem> {
  const text = 'select number, project, key, name, timings from paths where number > $1 order by number limit $2';
  type Row = { number: number; project: number; key: Buffer; name: string; timings: Buffer | null };
  for await (const { number, project, key, name, timings } of rowsOf<Row>(database, text, 0, row => row.number, PATHS_PER_STATEMENT)) {
    seen('paths');
    const problems = function* () {
      const problem = problemOf('paths', number, project);
      if (!key.equals(Buffer.from(pathKey(project, JSON.parse(name) as string))))
        yield problem(`has the name ${name}, but the key of another path`);
      if (timings && decodeTimings(timings).project !== project) yield problem('has timings of another project');
    };
    yield* ofRecord('paths', number, problems, project);
  }
}

interface PlanRow {
  id: string;
  project: number;
  node_total: number;
  list: string;
  parts: number[];
  bytes: Buffer[];
  positions: number[];
  changes: Buffer[];
}

/** Each is read with all that it consists of, because it may expire. */
async function* problemsOfPlans(database: Database, table: 'splits' | 'queues', seen: Seen): AsyncGenerator<Problem> {
  const text = `select id, project, node_total, list, array(select part from pieces where owner = id order by part) as parts,
      array(select bytes from pieces where owner = id order by part) as bytes,
      array(select position from journal where queue = id order by position) as positions,
      array(select changes from journal where queue = id order by position) as changes
    from ${table} where id > $1 order by id limit $2`;
  for await (const row of rowsOf<PlanRow>(database, text, '', ({ id }) => id, 1)) {
    seen(table);
    const { id, project, positions } = row;
    const problems = function* () {
      const plan = toStored(row);
      const problem = problemOf(table, id, project);
      if (table === 'splits') yield* problemsOfSplit(plan, problem);
      else {
        if (positions.some((position, i) => position !== i) || positions.length === 0) yield problem('has gaps in its journal');
        yield* problemsOfQueue(plan, problem);
      }
    };
    yield* ofRecord(table, id, problems, project);
  }
}

function toStored({ id, node_total, list, parts, bytes, changes }: PlanRow): StoredQueue {
  const pieces = new Map(parts.map((part, i) => [part, bytes[i]!]));
  return {
    id,
    node_total,
    list: JSON.parse(list) as TestFileList,
    readBlock: number => pieces.get(number),
    part(name) {
      const found = pieces.get(PARTS[name]);
      return found ? decodePart(name, found) : null;
    },
    blocks: parts.filter(part => part >= 0).length,
    batches: () => batchesIn(changes),
  };
}

/** Records that belong to another record, which may have left them behind: the column with the key of the owner, and the owner's table. */
const OWNED = [
  { table: 'pieces', column: 'owner', before: '', owners: { splits: 'id', queues: 'id' } },
  { table: 'journal', column: 'queue', before: '', owners: { queues: 'id' } },
  { table: 'split_uses', column: 'split', before: '', owners: { splits: 'id' } },
  { table: 'nodes', column: 'ci_run', before: '', owners: { ci_runs: 'id' } },
  { table: 'spared', column: 'ci_run', before: '', owners: { ci_runs: 'id' } },
  { table: 'summaries', column: 'build', before: 0, owners: { builds: 'number' } },
  { table: 'failures', column: 'build', before: 0, owners: { builds: 'number' } },
];

async function* problemsOfOwners(database: Database, seen: Seen): AsyncGenerator<Problem> {
  for (const { table, column, before, owners } of OWNED) {
    const isOf = (key: string) =>
      Object.entries(owners)
        .map(([owner, id]) => `exists (select from ${owner} where ${id} = ${key})`)
        .join(' or ');
    const text = `select k.key, ${isOf('k.key')} as is_owned from (
      select ${column} as key from ${table} where ${column} > $1 group by ${column} order by ${column} limit $2
    ) k order by k.key`;
    type Row = { key: string | number; is_owned: boolean };
    for await (const { key, is_owned } of rowsOf<Row>(database, text, before, row => row.key, CHECKED_PER_STATEMENT)) {
      seen(table);
      const remove = () => database.change(`delete from ${table} where ${column} = $1 and not (${isOf('$1')})`, [key]);
      if (!is_owned) yield problemOf(table, key)(`is of no record in ${Object.keys(owners).join(' or ')}, and would never expire`, remove);
    }
  }
}

/** Tables with records of projects. Those that nobody misses are deleted with it, also when a process that was stopped wrote them later. */
const OF_PROJECTS = {
  kept: ['builds', 'paths', 'splits', 'queues', 'ci_runs', 'tokens'],
  removed: ['links', 'sessions', 'unlearnt', 'batch_costs', 'days', 'deliveries', 'cases'],
};

async function* problemsOfProjects(database: Database, seen: Seen): AsyncGenerator<Problem> {
  const [counted] = await database.read<{ projects: number }>('select count(*) as projects from projects');
  for (let i = 0; i < counted!.projects; i++) seen('projects');
  for (const table of [...OF_PROJECTS.kept, ...OF_PROJECTS.removed]) {
    const lost = `project is not null and not exists (select from projects where id = project)`;
    for (const { project } of await database.read<{ project: number }>(
      `select distinct project from ${table} where ${lost} order by project`,
    )) {
      const remove = () => database.change(`delete from ${table} where project = $1 and ${lost}`, [project]);
      yield problemOf(table, project)('is of a project that does not exist', OF_PROJECTS.removed.includes(table) ? remove : null);
    }
  }
}

async function* problemsOfIdentities(database: Database): AsyncGenerator<Problem> {
  for (const [table, column] of IDENTITIES) {
    const [row] = await database.read<{ last: number; next: number }>(
      `select ${greatestNumber(table, column)} as last, ${await lastNumber(database, table, column)} as next`,
    );
    const { last, next } = row!;
    if (last > next)
      yield problemOf(table, column)(`goes on after ${next}, but ${last} is taken`, () => setIdentity(database, table, column));
  }
}
