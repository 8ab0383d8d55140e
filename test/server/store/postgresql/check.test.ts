import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newestBuild } from '../../../../src/server/engine/builds.js';
import { queueKey } from '../../../../src/server/engine/keys.js';
import { type Problem, repair } from '../../../../src/server/store/check/problem.js';
import { encodeChange, encodeChanges } from '../../../../src/server/store/codecs/queue-changes.js';
import { problemsOf } from '../../../../src/server/store/postgresql/check.js';
import { Database } from '../../../../src/server/store/postgresql/connection/database.js';
import { openPostgresqlStore } from '../../../../src/server/store/postgresql/store.js';
import { cluster, newDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { BUILD, DAY, files, NOW, newQueue, pull, record, sweep, upTo } from '../contract/fixtures.js';
import { listOf, serve } from '../contract/served.js';

/** One for all tests: to make a database takes longer than most of them. */
let database: Database;
let url: string;
let project: number;
/** Copies of the tables, from which each test gets them back. */
let tables: string[];

beforeAll(async () => {
  if (cluster === null) return;
  const made = await newDatabase();
  ({ url } = made);
  const store = await openPostgresqlStore({ url, connections: 4, mayMigrate: true, queues: { pullCost: 0, lease: null, cacheBytes: 1e9 } });
  ({ project } = await serve(store));
  await store.close();
  database = new Database({ url, connections: 2 });
  tables = (await database.read<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`)).map(
    ({ name }) => name,
  );
  await database.change('create schema saved');
  for (const table of tables) await database.change(`create table saved.${table} as table ${table}`);
  return async () => {
    await database.close();
    await made.end();
  };
});

afterEach(async () => {
  if (cluster === null) return;
  await database.change(`truncate ${tables.join(', ')}`);
  for (const table of tables) await database.change(`insert into ${table} select * from saved.${table}`);
});

async function problemsIn(): Promise<Problem[]> {
  const problems: Problem[] = [];
  for await (const problem of problemsOf(database, () => {})) problems.push(problem);
  return problems;
}

/** Repairs until nothing is left that can be repaired. Returns what is left. */
async function repaired(): Promise<Problem[]> {
  let problems = await problemsIn();
  for (let round = 0; round < 5 && problems.some(problem => problem.repair); round++) {
    await repair(problems);
    problems = await problemsIn();
  }
  return problems;
}

/** Of the queue with 70 files. */
const BATCH = encodeChange({
  ...{ seq: 99, node_index: 0, run: '', batch_uuid: null, handed_at: NOW, files: [70], isFirstRequest: false, isReplay: false },
  ...{ decision: null, build_subset_id: null, delivered: true },
});

describe.skipIf(cluster === null)('a check of a database', () => {
  it('finds nothing in a store that served, and counts what it looks at', async () => {
    const seen: Record<string, number> = {};
    for await (const { table, key, what } of problemsOf(database, table => (seen[table] = (seen[table] ?? 0) + 1)))
      expect.unreachable(`${table} ${JSON.stringify(key)} ${what}`);
    expect(seen).toMatchObject({ builds: 2, runs: 6, paths: 6, splits: 1, queues: 3, pieces: 4, journal: 3, split_uses: 1, summaries: 2 });
    await sweep(await openedStore(url), NOW + 90 * DAY, NOW + 90 * DAY);
    expect(await problemsIn()).toEqual([]);
  });

  it('finds nothing when the database named a sequence otherwise, because two processes made its table at the same moment', async () => {
    await database.change('alter sequence paths_number_seq rename to paths_number_seq1');
    expect(await problemsIn()).toEqual([]);
    await database.change('alter sequence paths_number_seq1 rename to paths_number_seq');
  });

  it('finds nothing while a process records, hands out and sweeps', async () => {
    const store = await openedStore(url);
    const key = queueKey(project, BUILD, 'busy');
    await store.queues.create(key, newQueue(200, listOf(200)), NOW + 9 * DAY);
    let isBusy = true;
    const work = async () => {
      for (let i = 0; isBusy; i++) {
        await Promise.all(
          upTo(8).map(node => record(store, project, files(3), { commit_hash: `c${i % 9}`, node_index: node, at: NOW + i * DAY })),
        );
        await pull(store, key, 0, { batch_uuid: `${i}` }, NOW + 9 * DAY);
        await sweep(store, NOW + (i - 3) * DAY);
      }
    };
    const working = work();
    const found: string[] = [];
    for (let checks = 0; checks < 5; checks++) for (const { what } of await problemsIn()) found.push(what);
    isBusy = false;
    await working;
    expect(found).toEqual([]);
  });

  it.each<[situation: string, damage: string, table: string, what: RegExp]>([
    ['counts too many runs', 'update builds set subsets = 9', 'builds', /counts 9 runs with \d+ test files, but has [13] runs/],
    ['counts other test files', 'update builds set test_files = 99', 'builds', /with 99 test files/],
    ['would number a run twice', 'update builds set recorded = 1', 'builds', /counts 1 runs ever recorded, but has run 3/],
    ['has a build without runs', 'delete from runs where build = 3', 'builds', /but has 0 runs/],
    ['has a build that would expire with its runs', 'update builds set is_empty = true', 'builds', /would expire with its runs/],
    ['has a build that is older than its runs', 'update builds set updated_at = 5', 'builds', /was updated at 5/],
    ['has runs without a build', 'delete from builds where number = 3', 'runs', /build that does not exist/],
    ['has nodes without CI runs', `insert into nodes values ('none', 0, 'https://ci', null)`, 'nodes', /no record in ci_runs/],
    ['has spared CI runs without those that prove them', `insert into spared values ('none', '', '{}')`, 'spared', /no record in ci_runs/],
    ['has summaries without builds', `insert into summaries values (99, '{}')`, 'summaries', /no record in builds/],
    ['has failures without builds', `insert into failures values (99, 1, '')`, 'failures', /no record in builds/],
    ['has pieces without an owner', `insert into pieces values ('nobody', 0, '')`, 'pieces', /no record in splits or queues/],
    ['has a journal without a queue', `insert into journal values ('nobody', 0, 0, '')`, 'journal', /no record in queues/],
    ['has uses without a split', `insert into split_uses values ('nobody', '', 0, 0)`, 'split_uses', /no record in splits/],
    [
      'is to learn runs of no project',
      'insert into unlearnt (project, build, node_index, run) values (99, 1, 0, 1)',
      'unlearnt',
      /of a project/,
    ],
    ['has sessions of no project', 'update sessions set project = 99', 'sessions', /project that does not exist/],
    ['has links of no project', 'update links set project = 99', 'links', /project that does not exist/],
    ['has days of no project', `insert into days values (99, '', 1, 1, '{}')`, 'days', /project that does not exist/],
    ['has learned for no project', `insert into batch_costs values (99, 'queue', '[]')`, 'batch_costs', /project that does not exist/],
    ['would number a build twice', `select setval('builds_number_seq', 1)`, 'builds', /goes on after 1, but \d+ is taken/],
  ])('that %s finds that, and repairs it', async (_, damage, table, what) => {
    await database.change(damage);
    const found = await problemsIn();
    expect(found).toContainEqual(expect.objectContaining({ table, what: expect.stringMatching(what) as string }));
    expect(await repaired()).toEqual([]);
  });

  it.each<[situation: string, damage: string, values: unknown[], table: string, what: RegExp]>([
    ['two runs with one ordinal', 'update runs set ordinal = 1', [], 'builds', /same ordinal/],
    ['a build under the key of another', `update builds set key = 'x' || key`, [], 'builds', /has the key of another build/],
    ['a truncated run', `update runs set times = substr(times, 2)`, [], 'runs', /not those of its test files/],
    ['a split without files', 'delete from pieces where owner in (select id from splits)', [], 'splits', /no files for node 0/],
    [
      'a queue without files',
      'delete from pieces where owner in (select id from queues)',
      [],
      'queues',
      /has 0 weights and 0 blocks of files/,
    ],
    ['a queue without weights', 'delete from pieces where part = -2', [], 'queues', /has 0 weights/],
    ['a gap in a journal', 'delete from journal where position = 1', [], 'queues', /gaps in its journal/],
    ['a queue without a journal', 'delete from journal', [], 'queues', /gaps in its journal/],
    ['a journal that cannot be read', `update journal set changes = '\\xc1'`, [], 'queues', /cannot be read/],
    [
      'a batch of a file that does not exist',
      'update journal set changes = $1 where position = 2',
      [encodeChanges([BATCH])],
      'queues',
      /file 70 of/,
    ],
    ['damaged timings', `update paths set timings = '\\x63'`, [], 'paths', /cannot be read/],
    ['a path under the key of another', `update paths set key = key || 'x'`, [], 'paths', /key of another path/],
    ['a token of no project', 'update tokens set project = 99', [], 'tokens', /project that does not exist/],
  ])('finds %s, which cannot be repaired', async (_, damage, values, table, what) => {
    await database.change(damage, values);
    const left = await repaired();
    expect(left).toContainEqual(expect.objectContaining({ table, what: expect.stringMatching(what) as string, repair: null }));
  });

  it('says of which project each record is', async () => {
    await database.change('update builds set test_files = 99');
    await database.change('update runs set times = substr(times, 2)');
    await database.change(`update paths set key = key || 'x'`);
    await database.change('delete from pieces');
    await database.change(`update queues set list = '{' where number = (select min(number) from queues)`);
    const problems = await problemsIn();
    expect(new Set(problems.map(({ table }) => table))).toEqual(new Set(['builds', 'runs', 'paths', 'splits', 'queues']));
    expect(new Set(problems.map(one => one.project))).toEqual(new Set([project]));
    expect(problems.map(({ what }) => what)).toContainEqual(expect.stringContaining('cannot be read'));
  });

  it('repairs no counter that a run changed since it was found', async () => {
    const store = await openedStore(url);
    await database.change('update builds set subsets = 9');
    const found = await problemsIn();
    const build = (await newestBuild(store.builds, project, {}))!;
    await record(store, project, files(1), { ...build, node_index: 3, at: NOW + 4 * DAY });
    await repair(found);
    expect(await store.builds.get(project, build.id)).toMatchObject({ subsets: 10 });
    expect(await repaired()).toEqual([]);
  });
});
