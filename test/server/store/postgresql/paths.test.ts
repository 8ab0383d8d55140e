import { describe, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../../../src/server/store/postgresql/connection/database.js';
import { KEPT_PLAN_VALUES } from '../../../../src/server/store/postgresql/connection/sql.js';
import { Paths } from '../../../../src/server/store/postgresql/paths.js';
import { cluster, copiedDatabase } from '../../../harness/postgresql-store.js';
import { HOUR, NOW, upTo } from '../contract/fixtures.js';

const PATHS = upTo(50).map(i => `spec/${i}_spec.rb`);

/** The paths of some processes on one database, and how many rows were updated since the last call. */
async function opened(processes: number) {
  const url = await copiedDatabase();
  const databases = upTo(processes).map(() => new Database({ url, connections: 2 }));
  onTestFinished(async () => void (await Promise.all(databases.map(database => database.close()))));
  const [database] = databases as [Database];
  await database.change('create table updates (number int4 not null)');
  await database.change(`create function note() returns trigger language plpgsql as
    'begin insert into updates values (new.number); return new; end'`);
  await database.change('create trigger note after update on paths for each row execute function note()');
  const updates = async () => (await database.change('delete from updates')).count;
  return { database, updates, all: databases.map(each => new Paths(each)) as [Paths, ...Paths[]] };
}

describe.skipIf(cluster === null)('paths that several processes record', () => {
  it('are written once in an hour, whichever process is first', async () => {
    const { all, updates, database } = await opened(3);
    const [first, ...others] = all;
    const numbers = await first.intern(1, PATHS, NOW);
    for (const other of others) expect(await other.intern(1, PATHS, NOW + 0.5 * HOUR)).toEqual(numbers);
    expect(await updates()).toBe(0);
    // The hour of all has ended with that of the first.
    for (const [i, each] of all.toReversed().entries()) expect(await each.intern(1, PATHS, NOW + HOUR + i)).toEqual(numbers);
    expect(await updates()).toBe(PATHS.length);
    expect(await database.read('select distinct seen_at from paths')).toEqual([{ seen_at: NOW + HOUR }]);
  });

  it('are written once when all processes are due at the same moment', async () => {
    const { all, updates } = await opened(3);
    const [numbers] = await Promise.all(all.map(each => each.intern(1, PATHS, NOW)));
    await updates();
    for (const other of await Promise.all(all.map(each => each.intern(1, PATHS, NOW + 5 * HOUR)))) expect(other).toEqual(numbers);
    expect(await updates()).toBe(PATHS.length);
  });

  it('are looked up with plans for as many as there are: a connection keeps none that was made for a few', async () => {
    const url = await copiedDatabase();
    const database = new Database({ url, connections: 1 });
    onTestFinished(() => database.close());
    const paths = new Paths(database);
    const kept = async () => (await database.read(`select from pg_prepared_statements where statement like '%paths%'`)).length - 1;
    await paths.intern(1, upTo(2 * KEPT_PLAN_VALUES).map(String), NOW);
    expect(await kept()).toBe(0);
    await paths.intern(1, PATHS, NOW);
    expect(await kept()).toBe(2);
  });

  it('get new numbers when they have expired', async () => {
    const { all, database } = await opened(1);
    const [paths] = all;
    const numbers = await paths.intern(1, PATHS, NOW);
    await database.change('delete from paths where number % 2 = 0');
    const again = await paths.intern(1, PATHS, NOW + HOUR);
    for (const [i, number] of again.entries()) expect(number === numbers[i], PATHS[i]).toBe(numbers[i]! % 2 === 1);
  });
});
