import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { Database, type DatabaseOptions, urlsOf } from '../../../src/store/postgresql/connection.js';
import { migrate } from '../../../src/store/postgresql/schema.js';
import { cluster, emptyDatabase } from '../../harness/postgresql-store.js';
import { TcpProxy } from '../../harness/proxy.js';

it('PostgreSQL runs for the tests of stores', ({ skip }) => {
  skip(inject('postgresql') === null, 'NOT TESTED: the store in PostgreSQL, because this machine has no programs of it');
});

it.each([
  ['postgres://ballast@db/ballast', ['postgres://ballast@db/ballast']],
  [
    'postgresql://a:b%40c@h1:5433,h2/x?sslmode=verify-full',
    ['postgresql://a:b%40c@h1:5433/x?sslmode=verify-full', 'postgresql://a:b%40c@h2/x?sslmode=verify-full'],
  ],
])('%s names a database on each of its hosts', (url, urls) => {
  expect(urlsOf(url)).toEqual(urls);
});

it.each(['', 'ballast', 'mysql://db/x', 'postgres:///x', 'postgres://db'])('%j names none', url => {
  expect(() => urlsOf(url)).toThrow('it must be like postgres://user@host:5432/database');
});

/** Opens a database, which is closed after the test. */
function openDatabase(options: Partial<DatabaseOptions> & { url: string }): Database {
  const database = new Database({ connections: 4, ...options });
  onTestFinished(() => database.close());
  return database;
}

/** An empty database behind a proxy, and a connection to it beside the proxy. */
async function behindProxy() {
  const url = await emptyDatabase();
  const direct = openDatabase({ url });
  await migrate(direct);
  await direct.change('create table seen (key text primary key, times int4 not null)');
  const proxy = await TcpProxy.start({ path: socketOf(url) });
  return { direct, proxy, url: throughProxies(url, proxy) };
}

const socketOf = (url: string) => `${decodeURIComponent(/@([^/]+)/.exec(url)![1]!)}/.s.PGSQL.5432`;
const throughProxies = (url: string, ...proxies: TcpProxy[]) =>
  url.replace(/@[^/]+/, `@${proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')}`);

const NOTE = `insert into seen (key, times) values ($1, 1) on conflict (key) do update set times = seen.times + 1`;
const commits = async (database: Database, process: string) =>
  (await database.read<{ commits: number }>('select commits from processes where id = $1', [process]))[0]?.commits ?? null;

describe.skipIf(cluster === null)('a statement', () => {
  it('that reads durably commits something in front of what it reads', async () => {
    const { direct } = await behindProxy();
    expect(await direct.readDurably('select $1::int4 + 1 as next', [1])).toEqual([{ next: 2 }]);
    expect(await direct.readDurably('with one as (select 1 as number) select number from one')).toEqual([{ number: 1 }]);
    expect(await commits(direct, direct.process)).toBe(1);
  });

  it('runs again, with a commit of its own, when it committed and its answer is lost', async () => {
    const { direct, proxy, url } = await behindProxy();
    const database = openDatabase({ url });
    await database.read('select 1');
    proxy.answers = 'drop';
    const changed = database.change(`${NOTE} returning times`, ['a']);
    await proxy.stopped();
    proxy.release();
    expect(await commits(direct, database.process)).toBeNull();
    proxy.cut();
    expect(await changed).toEqual({ rows: [{ times: 2 }], count: 1 });
    expect(await commits(direct, database.process)).toBe(0);
    await database.change(NOTE, ['a']);
    expect(await commits(direct, database.process)).toBe(0);
  });

  it('runs again when its commit came with a warning', async () => {
    const { direct } = await behindProxy();
    await direct.change(
      `create function warn() returns int4 language plpgsql as $$ begin raise warning 'the wait was ended'; return 1; end $$`,
    );
    await direct.change('create sequence warnings');
    const changed = await direct.change(`insert into seen (key, times)
      select 'a', case when nextval('warnings') = 1 then warn() else 2 end on conflict (key) do update set times = excluded.times returning times`);
    expect(changed.rows).toEqual([{ times: 2 }]);
    expect(await commits(direct, direct.process)).toBe(0);
  });
});
