import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import { newestBuild } from '../../../../src/server/engine/builds.js';
import { splitKey } from '../../../../src/server/engine/keys.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { cluster, copiedDatabase, databaseWithoutTables, openedStore } from '../../../harness/postgresql-store.js';
import { BUILD, DAY, estimates, NOW, newSplit, sweep } from '../contract/fixtures.js';
import { LATER, serve } from '../contract/served.js';

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
  'jobs',
  'split_uses',
  'summaries',
  'days',
  'deliveries',
  'cases',
];

/** Runs work, and returns the statements that it ran, and which of them are prepared. */
async function statementsOf(work: () => Promise<void>): Promise<{ all: string[]; prepared: string[] }> {
  const all = new Set<string>();
  const prepared = new Set<string>();
  const { query } = pg.Client.prototype as { query: (...values: unknown[]) => unknown };
  const noted = function (this: pg.Client, ...values: unknown[]) {
    const [config] = values as [{ name?: string; text: string }];
    if (/^\s*(select|with|insert|update|delete)/.test(config.text)) {
      all.add(config.text);
      if (config.name !== undefined) prepared.add(config.text);
    }
    return query.apply(this, values);
  };
  Object.assign(pg.Client.prototype, { query: noted });
  await work().finally(() => Object.assign(pg.Client.prototype, { query }));
  return { all: [...all], prepared: [...prepared] };
}

/** The same store, and the functions of its ports that were not called yet. */
function watched(store: Store): { store: Store; uncalled: () => string[] } {
  const uncalled = new Set<string>();
  const watch = (group: string, port: object): object => {
    const values = port as Record<string, unknown>;
    const names = [...Object.keys(port), ...Object.getOwnPropertyNames(Object.getPrototypeOf(port))];
    for (const name of names)
      if (typeof values[name] === 'function' && name !== 'close' && !(name in Object.prototype)) uncalled.add(`${group}.${name}`);
    const processes = values.processes && watch('processes', values.processes);
    const get = (_: object, name: string) => {
      uncalled.delete(`${group}.${name}`);
      if (name === 'processes') return processes;
      const value = values[name];
      return typeof value === 'function' ? value.bind(port) : value;
    };
    return new Proxy(port, { get: get as never });
  };
  const groups = Object.entries(store).map(([group, port]) => {
    const isPort = typeof port === 'object' && group !== 'database';
    return [group, isPort ? watch(group, port as object) : port];
  });
  return { store: Object.fromEntries(groups) as Store, uncalled: () => [...uncalled] };
}

/** Asks a store that served for all that can be asked. */
async function readAll(store: Store): Promise<void> {
  const { access, signIns, values, builds, timings, plans, splits, queues, ciRuns, summaries, deliveries, cases, maintenance } = store;
  const { project, queue, split } = await serve(store);
  for (const name of ['projects', 'tokens'] as const) await access[name]();
  await access.project('web');
  await access.project(project);
  await access.token('hash of web');
  access.knownToken('hash of web');
  await access.replaceSettings(project, noSettings, noSettings);
  await access.renameProject(project, 'web site');
  for (const name of ['links', 'sessions'] as const) await signIns[name]();
  const [hash, secret] = ['4'.repeat(64), '7'.repeat(64)];
  await signIns.link(hash);
  await signIns.session(secret);
  await signIns.useSession(secret, NOW);
  await signIns.deleteSession(secret);
  await signIns.deleteLink(hash);
  await values.get('password');
  for (const name of ['password', 'address'] as const) await values.put(name, null);
  await signIns.deleteEnded(NOW, NOW);
  for (const filter of [{}, { branch: 'main' }, { commit_hash: 'abc' }, { node_total: 4 }, BUILD, { branch: 'main', node_total: 4 }]) {
    await builds.count(project, filter);
    for (const part of [
      { offset: 100, limit: 100 },
      { before: 9, limit: 10 },
    ])
      await builds.list(project, filter, part);
  }
  const build = (await newestBuild(builds, project, {}))!;
  await builds.get(project, build.id);
  await builds.find(project, build);
  await builds.runs(build.number, 0);
  const [run] = await builds.runs(build.number);
  await builds.run(build.number, run!);
  const { paths } = (await builds.times(build.number, run!))!;
  await builds.path(paths[0]!);
  await builds.pathNumber(project, 'spec/a_spec.rb');
  plans.encode(estimates(3));
  await timings.estimates(project, 'main', suiteOf(['spec/a_spec.rb', 'spec/b_spec.rb', 'spec/new_spec.rb']), 10);
  await timings.ofPaths(project, 'main', paths);
  await timings.cases(project, 'main', 'spec/b_spec.rb');
  await timings.all(0, 10);
  const found = (await splits.find(split))!;
  await splits.firstUse(found, '2');
  await splits.use(split, found, LATER);
  await plans.files(found.id, 0);
  const own = splitKey(project, BUILD, '3', false);
  await splits.noteOtherList(own, await splits.create(own, newSplit(own), LATER), 'another list', LATER);
  await queues.newest(project, BUILD);
  const { id } = (await queues.find(queue))!;
  await plans.files(id, [0]);
  for (const name of ['forecast', 'basis', 'weights', 'cuts'] as const) await plans.part(id, name);
  for (const name of ['batches', 'copiedBatches', 'revision'] as const) await queues[name](id);
  await queues.learned(project, 'queue');
  queues.load();
  await queues.update(
    queue,
    () => null,
    () => ({ value: null, changes: [] }),
    LATER,
  );
  const [ciRun] = await ciRuns.list(project, LATER, 10);
  await ciRuns.get(project, ciRun!.id);
  await ciRuns.jobs(ciRun!.id);
  await ciRuns.newest(project, [build, { ...build, branch: 'next' }]);
  await summaries.get(build.number);
  await summaries.ofBuilds([build.number, build.number + 1]);
  await summaries.unrecorded(project, { from: NOW, before: LATER }, 10);
  await summaries.ofUnrecorded(ciRun!);
  await summaries.days(project, null, 0, 30_000);
  for (const file of ['spec/a_spec.rb', null]) await builds.pieces(project, file);
  for (const file of ['spec/a_spec.rb', 'größe\0_spec.rb']) await cases.of(project, file, 1e6);
  const [due] = await deliveries.due(LATER, 10);
  await deliveries.attempt(due!, LATER);
  await deliveries.known(project, ['sent', 'waiting']);
  await deliveries.forget(project, ['sent']);
  await maintenance.probe(NOW);
  await maintenance.load();
  await maintenance.publish('runs');
  for (const name of ['refresh', 'assertWritable'] as const) await maintenance[name]();
  const processes = maintenance.processes!;
  await processes.publish('{}');
  await processes.others(NOW);
  await processes.leave();
  await access.deleteProject(project, NOW);
  await sweep(store, NOW + 90 * DAY, LATER);
}

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
  `insert into ci_runs (id, project, kind, plan, ci_run, digest, build, names, node_total, created_at, runs_before, summary)
  select 'i' || i, i % 20, '', '', '', 0, 'b' || i, '', 4, i, 0, '' from generate_series(1, 4000) i`,
  `insert into jobs (ci_run, node_index, url) select 'i' || i / 5, i % 5, '' from generate_series(1, 4000) i`,
  `insert into summaries (build, summary) select i, '' from generate_series(1, 4000) i`,
  `insert into days (project, branch, day, builds, summary) select i % 20, i % 40, i, 1, '' from generate_series(1, 4000) i`,
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
    const { all: statements, prepared } = await statementsOf(async () => {
      const { store, uncalled } = watched(await openedStore(await databaseWithoutTables()));
      await readAll(store);
      expect(uncalled()).toEqual([]);
    });
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
