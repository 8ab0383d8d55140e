import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cluster, copiedDatabase, databaseWithoutTables, openedStore } from '../../../harness/postgresql-store.js';
import { deleteAll, readAll, statementsOf, watched } from './statements.js';

/** Tables that grow with what is recorded. The others have a row for each project, person or process. */
const GROWING = [
  'builds',
  'runs',
  'paths',
  'pieces',
  'splits',
  'queues',
  'journal',
  'ci_runs',
  'nodes',
  'spared',
  'split_uses',
  'summaries',
  'failures',
  'days',
  'deliveries',
  'cases',
];

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'CTE Name'?: string;
  Alias?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

/** The tables of which a plan reads all rows, by itself or with an index. The first rows of an index, up to a limit, are not all. */
function readWholeBy(
  { 'Node Type': type, 'Relation Name': table, 'Index Cond': condition, Plans = [] }: Plan,
  isLimited = false,
): string[] {
  const isWhole = type === 'Seq Scan' || (/^Index (Only )?Scan$/.test(type) && condition === undefined && !isLimited);
  const isNextLimited = type === 'Limit' || (type === 'LockRows' && isLimited);
  return [...(isWhole ? [table!] : []), ...Plans.flatMap(plan => readWholeBy(plan, isNextLimited))];
}

/** The tables that a statement changes, each as often as it does. */
function changedBy(text: string): string[] {
  return Array.from(text.matchAll(/\b(?:insert into|delete from|(?<!\b(?:for|do) )update) (\w+)/g), ([, table]) => table!);
}

/** A list of one row at most. */
const PROJECT = 'p';

/**
 * The lists that a plan compares row by row with another one. The planner expects some rows of a list, and may choose this at any time; it takes
 * seconds when both have thousands.
 */
function comparedBy({ 'Node Type': type, Plans = [] }: Plan): string[] {
  const lists = type === 'Nested Loop' ? Plans.map(listOf) : [];
  const isLong = lists.length > 0 && lists.every(list => list !== null && list !== PROJECT);
  return [...(isLong ? [lists.join(' and ')] : []), ...Plans.flatMap(comparedBy)];
}

/** The list that a plan reads; null: it looks something up. */
function listOf({ 'Node Type': type, 'CTE Name': name, Alias: alias, Plans = [] }: Plan): string | null {
  if (type === 'CTE Scan' || type === 'Function Scan') return name ?? alias!;
  return /^(Materialize|Sort|Aggregate|WindowAgg|Subquery Scan|Nested Loop)$/.test(type) ? listOf(Plans[0]!) : null;
}

/** A database with tables of some thousand rows, of 20 projects. */
const FILLED = [
  `insert into projects (name, created_at) select 'p' || i, 0 from generate_series(1, 20) i`,
  `insert into builds (key, id, project, commit_key, branch_key, node_total, names, created_at, updated_at, recorded, subsets, test_files)
  select 'k' || i, 'i' || i, i % 20, 'c' || i, 'b' || i % 30, i % 4, '[]', i, i, 5, 5, 5 from generate_series(1, 4000) i`,
  `insert into runs (build, node_index, run, id, created_at, ordinal, ci_run, has_no_test, test_files, times)
  select i / 5, i % 5, 1, 'i' || i, i, i % 5 + 1, 0, false, 1, '' from generate_series(0, 3999) i`,
  `insert into paths (project, key, name, seen_at) select i % 20, convert_to(i % 20 || '/' || i, 'UTF8'), '', i from generate_series(1, 4000) i`,
  `insert into pieces (owner, part, bytes) select 'o' || i / 5, i % 5, '' from generate_series(1, 4000) i`,
  `insert into journal (queue, position, attempt, changes) select 'q' || i / 5, i % 5, 0, '' from generate_series(1, 4000) i`,
  `insert into splits (key, id, project, node_total, created_at, runs_before, used_at, list, forecast)
  select 'k' || i, 'o' || i, i % 20, 4, i, 0, i, '', '' from generate_series(1, 4000) i`,
  `insert into queues (key, id, name, project, build, node_total, guessed, created_at, runs_before, used_at, list, forecast)
  select 'k' || i, 'q' || i, '', i % 20, 'b' || i, 4, false, i, 0, i, '', '' from generate_series(1, 4000) i`,
  `insert into split_uses (split, ci_run, at, runs_before) select 'o' || i / 5, i % 5, 0, 0 from generate_series(1, 4000) i`,
  `insert into ci_runs (id, project, kind, plan, ci_run, digest, build, names, node_total, created_at, runs_before, tree, summary)
  select 'i' || i, i % 20, '', '', '', 0, 'b' || i, '', 4, i, 0, 't' || i, '' from generate_series(1, 4000) i`,
  `insert into nodes (ci_run, node_index, job_url) select 'i' || i / 5, i % 5, '' from generate_series(1, 4000) i`,
  `insert into spared (ci_run, key, record) select 'i' || i / 5, 'k' || i % 5, '' from generate_series(1, 4000) i`,
  `insert into summaries (build, summary) select i, '' from generate_series(1, 4000) i`,
  `insert into failures (build, project, record) select i, i % 20, '\\x000000000000000000000000' from generate_series(1, 4000) i`,
  `insert into days (project, branch, day, counted, summary) select i % 20, i % 40, i, 1, '' from generate_series(1, 4000) i`,
  `insert into deliveries (project, key, id, event, created_at, attempts, due_at)
  select i % 20, 'k' || i, '', case when i % 2 = 0 then '' end, i, 0, i from generate_series(1, 4000) i`,
  `insert into cases (project, file, piece, at, report) select i % 20, 'f' || i / 5, i % 5, i, '' from generate_series(1, 4000) i`,
  'analyze',
];

/** The tables that grow, and that the plan of a statement for any values reads as a whole; by statement. */
async function readWhole(client: pg.Client, statements: readonly string[]): Promise<Record<string, string[]>> {
  const whole: Record<string, string[]> = {};
  for (const text of statements) {
    const tables = readWholeBy(await planOf(client, text)).filter(table => GROWING.includes(table));
    if (tables.length > 0) whole[text] = tables;
  }
  return whole;
}

async function planOf(client: pg.Client, text: string): Promise<Plan> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`explain (generic_plan, format json) ${text}`);
  return rows[0]!['QUERY PLAN'][0].Plan;
}

describe.skipIf(cluster === null)('the statements of the store in PostgreSQL', () => {
  /**
   * In a new installation all is planned with tables that are nearly empty, and of which the database knows nothing. A connection keeps these
   * plans, so they must serve when the tables have grown. Later the planner chooses by the size of the tables, so it is asked for a plan that
   * looks rows up: it has one if an index serves.
   */
  it('read no table as a whole that grows, compare no long lists row by row, and change no table twice', async () => {
    const asked = await statementsOf(async () => {
      const { store, uncalled } = watched(await openedStore(await databaseWithoutTables()));
      await deleteAll(store, await readAll(store));
      expect(uncalled()).toEqual([]);
    });
    const statements = asked.map(({ text }) => text);
    const prepared = asked.filter(({ isPrepared }) => isPrepared).map(({ text }) => text);
    const url = await copiedDatabase();
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    expect(await readWhole(client, prepared)).toEqual({});
    const lookUps = ['seqscan', 'hashjoin', 'mergejoin'].map(name => `set enable_${name} = off`);
    for (const statement of [...FILLED, ...lookUps]) await client.query(statement);
    const compared: Record<string, string[]> = {};
    const twice = statements.filter(text => new Set(changedBy(text)).size < changedBy(text).length);
    // Only lists of paths are long.
    for (const text of statements.filter(each => /\b(from|into|join|update) paths\b/.test(each))) {
      const lists = comparedBy(await planOf(client, text));
      if (lists.length > 0) compared[text] = lists;
    }
    expect(statements.length).toBeGreaterThan(100);
    expect(await readWhole(client, statements)).toEqual({});
    expect(compared).toEqual({});
    expect(twice).toEqual([]);
  });
});
