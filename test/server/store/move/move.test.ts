import { describe, expect, it, onTestFinished } from 'vitest';
import { newestBuild } from '../../../../src/server/engine/builds.js';
import { queueKey } from '../../../../src/server/engine/keys.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { type LmdbStore, openLmdbStore } from '../../../../src/server/store/lmdb/store.js';
import { databaseSide } from '../../../../src/server/store/move/database.js';
import { folderSide } from '../../../../src/server/store/move/folder.js';
import { digestOf, MOVED, MOVED_TABLES, move, type Side } from '../../../../src/server/store/move/move.js';
import { problemsOf as problemsInDatabase } from '../../../../src/server/store/postgresql/check.js';
import { Database } from '../../../../src/server/store/postgresql/connection/database.js';
import { cluster, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { problemsIn } from '../../../harness/problems.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { ascending, BUILD, files, NOW, newQueue, pullAll, record, secondsOf, upTo } from '../contract/fixtures.js';
import { LATER, listOf, type Served, serve } from '../contract/served.js';

const QUEUES = { queues: { pullCost: 0, lease: null, cacheBytes: 1e9 } };
const noProgress = () => {};

/** The rows of all tables: how many, and their digests. */
async function contents(side: Side): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(MOVED_TABLES.map(async table => [table, await digestOf(side, table)])));
}

function openedFolder(dataDir: string): LmdbStore {
  const store = openLmdbStore(dataDir, QUEUES);
  onTestFinished(() => store.close());
  return store;
}

/** A folder that served, and was closed. */
async function servedFolder(): Promise<{ dataDir: string; served: Served }> {
  const dataDir = temporaryFolder();
  const store = openLmdbStore(dataDir, QUEUES);
  const served = await serve(store);
  await store.close();
  return { dataDir, served };
}

async function openedDatabase(): Promise<{ url: string; database: Database }> {
  const url = await emptyDatabase();
  const database = new Database({ url, connections: 2 });
  onTestFinished(() => database.close());
  return { url, database };
}

/** Expects that a store goes on where another one of these folders or databases has ended. */
async function expectToGoOn(store: Store, { project, queue, split }: Served): Promise<void> {
  const found = (await store.queues.find(queue))!;
  const handed = (await store.queues.batches(found.id)).flatMap(batch => batch.files);
  const rest = await pullAll(store, queue, 3);
  expect(ascending([...handed, ...rest])).toEqual(upTo(70));
  expect((await store.queues.newest(project, { ...BUILD, branch: 'größe\0' }))!.copied).not.toBeNull();
  expect(JSON.parse((await store.plans.files((await store.splits.find(split))!.id, 0))!.toString())).toHaveLength(1);
  expect(await secondsOf(store, project, ['spec/a_spec.rb'], 'größe\0')).toEqual([expect.closeTo(4, 0)]);
  const numbers = (await store.builds.all(0, 100)).map(({ number }) => number);
  await record(store, project, files(1), { commit_hash: 'next', at: LATER });
  expect((await newestBuild(store.builds, project, {}))!.number).toBeGreaterThan(Math.max(...numbers));
  expect((await store.access.createProject('next', 'hash of next', NOW))!.id).toBe(4);
  const own = queueKey(project, BUILD, 'next');
  await store.queues.create(own, newQueue(5, listOf(5)), LATER);
  expect(await pullAll(store, own, 0)).toHaveLength(5);
}

describe.skipIf(cluster === null)('a store that is moved', () => {
  it('from a folder to a database and back is the same, and goes on', async () => {
    const { dataDir, served } = await servedFolder();
    const source = openedFolder(dataDir);
    const before = await contents(folderSide(source.parts));
    for (const [table, rows] of Object.entries(before)) expect(rows, table).not.toMatch(/^0 /);
    const { url, database } = await openedDatabase();
    await move(folderSide(source.parts), databaseSide(database), noProgress);
    expect(await contents(folderSide(source.parts))).toEqual(before);
    const problems: unknown[] = [];
    for await (const problem of problemsInDatabase(database, noProgress)) problems.push(problem);
    expect(problems).toEqual([]);

    const back = temporaryFolder();
    const target = openLmdbStore(back);
    await move(databaseSide(database), folderSide(target.parts), noProgress);
    expect(await contents(folderSide(target.parts))).toEqual(before);
    await target.close();
    expect(await problemsIn(back)).toEqual([]);

    await expectToGoOn(await openedStore(url), served);
    const moved = openLmdbStore(back, QUEUES);
    await expectToGoOn(moved, served);
    await moved.close();
    const again = openedFolder(back);
    const batches = await again.queues.batches((await again.queues.find(served.queue))!.id);
    expect(ascending(batches.flatMap(batch => batch.files))).toEqual(upTo(70));
  });

  it('from a database that served has the same', async () => {
    const { url, database } = await openedDatabase();
    const served = await serve(await openedStore(url));
    // Written when a path was last learned, and not when it was last recorded.
    await database.change('update paths set seen_at = seen_at + 5000');
    const folder = temporaryFolder();
    const target = openLmdbStore(folder);
    await move(databaseSide(database), folderSide(target.parts), noProgress);
    await target.close();
    expect(await problemsIn(folder)).toEqual([]);
    await expectToGoOn(openedFolder(folder), served);
  });

  it('is read from a database in the order of indexes', async () => {
    const { database } = await openedDatabase();
    const indexes = await database.read<{ tablename: string; indexdef: string }>(
      `select tablename, replace(indexdef, '"', '') as indexdef from pg_indexes where schemaname = 'public' and indexdef not like '% WHERE %'`,
    );
    for (const table of MOVED_TABLES.filter(table => table !== 'identities')) {
      const ofTable = indexes.filter(({ tablename }) => tablename === table).map(({ indexdef }) => indexdef);
      expect(ofTable, table).toContainEqual(expect.stringMatching(`\\(${MOVED[table].key}[,)]`));
    }
  });

  it('is refused by a target that is not empty', async () => {
    const { dataDir } = await servedFolder();
    const { database } = await openedDatabase();
    await database.change(`insert into projects (name, created_at) values ('default', 1)`);
    const side = folderSide(openedFolder(dataDir).parts);
    await expect(move(side, databaseSide(database), noProgress)).rejects.toThrow('the target is not empty: it has projects');
    await expect(move(databaseSide(database), side, noProgress)).rejects.toThrow('the target is not empty');
  });

  it('is compared with its source', async () => {
    const { dataDir } = await servedFolder();
    const { database } = await openedDatabase();
    const target = databaseSide(database);
    const lossy: Side = { ...target, put: (table, rows) => target.put(table, table === 'runs' ? rows.slice(1) : rows) };
    await expect(move(folderSide(openedFolder(dataDir).parts), lossy, noProgress)).rejects.toThrow(
      /the runs differ after the move: 6 rows .* 5 rows/,
    );
  });
});
