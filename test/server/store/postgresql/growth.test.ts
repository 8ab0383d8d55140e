import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { digest } from '../../../../src/server/engine/keys.js';
import { codeOf } from '../../../../src/server/store/postgresql/connection/errors.js';
import { cluster, copiedDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { DAY, NOW } from '../contract/fixtures.js';
import { readAll, type Statement, statementsOf, sweepAll } from './statements.js';

/** So many builds of a project, of ten recordings each, and what goes with them. They are younger than what the store serves. */
function filled(builds: number, project: number): string[] {
  const at = NOW + 200 * DAY;
  const one = (count: number) => `from generate_series(1, ${count}) i`;
  return [
    `insert into builds (key, id, project, commit_key, branch_key, node_total, names, created_at, updated_at, recorded, subsets, test_files)
    select 'k' || i, 'i' || i, ${project}, 'c' || i, case when i % 2 = 0 then '${digest('main')}' else 'b' || i % 30 end, 4, '["c", "main"]', ${at} + i, ${at} + i, 10, 10, 200
    ${one(builds)}`,
    `insert into runs (build, node_index, run, id, created_at, ordinal, ci_run, has_no_test, test_files, times)
    select i / 10 + 1, i % 10, 1, 'i' || i, ${at} + i, i % 10 + 1, 0, false, 20, repeat('x', 240)::bytea from generate_series(0, ${10 * builds - 1}) i`,
    `insert into paths (project, key, name, seen_at) select ${project}, convert_to('${project}/' || i, 'UTF8'), '"x"', ${at} + i ${one(builds)}`,
    `insert into pieces (owner, part, bytes) select 'o' || i / 5, i % 5, repeat('x', 100)::bytea ${one(builds)}`,
    `insert into journal (queue, position, attempt, changes) select 'q' || i / 5, i % 5, 0, '' ${one(builds)}`,
    `insert into splits (key, id, project, node_total, created_at, runs_before, used_at, list, forecast)
    select 'k' || i, 'o' || i, ${project}, 4, ${at} + i, 0, ${at} + i, '{}', '{}' ${one(builds)}`,
    `insert into queues (key, id, name, project, build, node_total, guessed, created_at, runs_before, used_at, list, forecast)
    select 'k' || i, 'q' || i, '"q"', ${project}, 'b' || i, 4, false, ${at} + i, 0, ${at} + i, '{}', '{}' ${one(builds)}`,
    `insert into split_uses (split, ci_run, at, runs_before) select 'o' || i / 5, i % 5, 0, 0 ${one(builds)}`,
    `insert into ci_runs (id, project, kind, plan, ci_run, digest, build, names, node_total, created_at, runs_before, summary)
    select 'i' || i, ${project}, 'queue', '', '"1"', 0, 'b' || i, '["c", "main"]', 4, ${at} + i, 0, case when i % 9 = 0 then '{}' end ${one(builds)}`,
    `insert into nodes (ci_run, node_index, job_url) select 'i' || i / 5, i % 5, '' ${one(builds)}`,
    `insert into spared (ci_run, key, record) select 'i' || i / 5, 'k' || i % 5, '{}' ${one(builds)}`,
    `insert into summaries (build, summary) select i, '{}' ${one(builds)}`,
    `insert into failures (build, project, record) select i, ${project}, '\\x000000000000000000000000' ${one(builds)}`,
    `insert into days (project, branch, day, counted, summary) select ${project}, i % 40, 40000 + i, 1, '{}' ${one(builds / 100)}`,
    `insert into deliveries (project, key, id, event, created_at, attempts, due_at)
    select ${project}, 'k' || i, '', null, ${at} + i, 0, ${at} + i ${one(builds)}`,
    `insert into cases (project, file, piece, at, report) select ${project}, 'f' || i / 5, i % 5, ${at} + i, '{}' ${one(builds)}`,
    'vacuum analyze',
  ];
}

/** Has a store serve in a database of so many builds of a project. Returns the pages that each of its statements reads, by its text. */
async function pagesWith(builds: number, project: number): Promise<Map<string, number>> {
  const url = await copiedDatabase();
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  for (const statement of filled(builds, project)) await client.query(statement);
  const store = await openedStore(url);
  const pages = new Map<string, number>();
  for (const work of [readAll, sweepAll])
    for (const statement of await statementsOf(async () => void (await work(store))))
      pages.set(statement.text, await pagesOf(client, statement));
  return pages;
}

interface Plan {
  'Subplan Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** The pages of a plan, and those of the parts of its WITH, which nothing may have read: they run when the rest has ended. */
function pagesOfPlan({ 'Shared Hit Blocks': hit, 'Shared Read Blocks': read, Plans = [] }: Plan): number {
  const parts = Plans.filter(plan => plan['Subplan Name']?.startsWith('CTE '));
  return parts.reduce((sum, plan) => sum + pagesOfPlan(plan), hit + read);
}

async function pagesOf(client: pg.Client, { text, values }: Statement): Promise<number> {
  await client.query('begin');
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`explain (analyze, buffers, format json) ${text}`, values);
    return pagesOfPlan(rows[0]!['QUERY PLAN'][0].Plan);
  } catch (error) {
    // The record is there: it was found by its key.
    if (codeOf(error) === '23505') return 0;
    throw error;
  } finally {
    await client.query('rollback');
  }
}

/** An index may be a level higher, in each of some tables. */
const MORE_PAGES = 20;

describe.skipIf(cluster === null)('a database of 100,000 builds and 1,000,000 recordings', () => {
  it.each([
    ['the project that serves', 1],
    ['another project', 2],
  ])('of %s has no statement that reads many more pages than with a tenth of them', { timeout: 300_000 }, async (_, project) => {
    const few = await pagesWith(10_000, project);
    const many = await pagesWith(100_000, project);
    const grown = [...many].filter(([text, pages]) => pages > 1.5 * (few.get(text) ?? 0) + MORE_PAGES);
    expect(grown).toEqual([]);
    expect(many.size).toBeGreaterThan(100);
  });
});
