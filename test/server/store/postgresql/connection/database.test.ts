import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { Refusal } from '../../../../../src/server/engine/refusal.js';
import { Database } from '../../../../../src/server/store/postgresql/connection/database.js';
import type { DatabaseOptions } from '../../../../../src/server/store/postgresql/connection/options.js';
import { migrate } from '../../../../../src/server/store/postgresql/schema.js';
import {
  cluster,
  copiedDatabase,
  databaseWithoutTables,
  emptyDatabase,
  newDatabase as newTestDatabase,
} from '../../../../harness/postgresql-store.js';
import { TcpProxy } from '../../../../harness/proxy.js';
import { temporaryFolder } from '../../../../harness/temporary-folder.js';
import { freePort } from '../../../../testbed/free-port.js';
import { type Cluster, createDatabase, startCluster } from '../../../../testbed/postgresql.js';
import { createCertificate } from '../../../http/create-certificate.js';

it('PostgreSQL runs for the tests of stores', ({ skip }) => {
  skip(inject('postgresql') === null, 'NOT TESTED: the store in PostgreSQL, because this machine has no programs of it');
});

/** Makes a database, which is closed after the test. */
function newDatabase(options: Partial<DatabaseOptions> & { url: string }): Database {
  const database = new Database({ connections: 4, ...options });
  onTestFinished(() => database.close());
  return database;
}

async function openDatabase(options: Partial<DatabaseOptions> & { url: string }): Promise<Database> {
  const database = newDatabase(options);
  await database.open();
  return database;
}

const portOf = (url: string) => ({ path: `${decodeURIComponent(/@([^/]+)/.exec(url)![1]!)}/.s.PGSQL.5432` });
const through = (url: string, ...proxies: TcpProxy[]) =>
  url.replace(/@[^/]+/, `@${proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')}`);

let template: Awaited<ReturnType<typeof newTestDatabase>>;

beforeAll(async () => {
  if (cluster === null) return;
  template = await newTestDatabase();
  await prepare(template.url);
});
afterAll(() => template?.end());

/** Makes the tables. */
async function prepare(url: string): Promise<void> {
  const database = new Database({ url, connections: 1 });
  await migrate(database);
  await database.change('create table seen (key text primary key, times int4 not null)');
  await database.close();
}

/** A database behind proxies, and a way to it beside them. */
async function behindProxies(number = 1) {
  const url = await copiedDatabase(template.name);
  const direct = await openDatabase({ url });
  const proxies = await Promise.all(Array.from({ length: number }, () => TcpProxy.start(portOf(url))));
  return { direct, proxies, proxy: proxies[0]!, url: through(url, ...proxies) };
}

/** Makes `WAITING` wait, until it is called. */
async function lock(url: string): Promise<() => Promise<unknown>> {
  const holder = await openDatabase({ url, connections: 1 });
  await holder.read('select pg_advisory_lock(7)');
  return () => holder.read('select pg_advisory_unlock(7)');
}

const NOTE = 'insert into seen (key, times) values ($1, 1) on conflict (key) do update set times = seen.times + 1';
const WAITING =
  'insert into seen (key, times) select $1, 1 from pg_advisory_xact_lock(7) on conflict (key) do update set times = seen.times + 1';

const commits = async (database: Database, process: string) =>
  (await database.read<{ commits: number }>('select commits from processes where id = $1', [process]))[0]?.commits ?? null;
const timesOf = async (database: Database, key: string) =>
  (await database.read<{ times: number }>('select times from seen where key = $1', [key]))[0]?.times ?? 0;
const sessionOf = async (database: Database) => (await database.read<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid;
const waitingForLocks = async (database: Database) =>
  (
    await database.read<{ count: number }>(
      `select count(*) from pg_locks join pg_database on pg_database.oid = pg_locks.database where datname = current_database() and not granted`,
    )
  )[0]!.count;
const causeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => {
      expect(error).toBeInstanceOf(Refusal);
      expect((error as Refusal).reason).toBe('database');
      return ((error as Refusal).cause as Error).message;
    },
  );

describe.skipIf(cluster === null)('a statement', () => {
  it('that reads durably commits something in front of what it reads', async () => {
    const { direct } = await behindProxies();
    expect(await direct.readDurably('select $1::int4 + 1 as next', [1])).toEqual([{ next: 2 }]);
    expect(await direct.readDurably('with one as (select 1 as number) select number from one')).toEqual([{ number: 1 }]);
    expect(await commits(direct, direct.process)).toBe(1);
  });

  it('runs again, with a commit of its own, when it committed and its answer is lost', async () => {
    const { direct, proxy, url } = await behindProxies();
    const database = await openDatabase({ url });
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
    expect(database.load().repeated).toBe(1);
  });

  it('that only reads runs again as it is', async () => {
    const { direct, proxy, url } = await behindProxies();
    const database = await openDatabase({ url });
    proxy.requests = 'drop';
    const read = database.read('select 1 as number');
    await proxy.stopped();
    proxy.release();
    proxy.cut();
    expect(await read).toEqual([{ number: 1 }]);
    expect(await commits(direct, database.process)).toBeNull();
  });

  it('goes on when its caller was told that it takes too long, and keeps its connection meanwhile', async () => {
    const { direct, url } = await behindProxies();
    const unlock = await lock(direct.options.url);
    const database = await openDatabase({ url, isWatched: true, bounds: { wait: 200, watch: 10 } });
    expect(await causeOf(database.change(WAITING, ['a']))).toBe('no answer in 0.2 s');
    expect(database.load()).toMatchObject({ open: 1, busy: 1, repeated: 0 });
    expect(await database.read('select 1 as number')).toEqual([{ number: 1 }]);
    await unlock();
    await expect.poll(() => database.load()).toMatchObject({ open: 2, busy: 0, awaySeconds: 0 });
    expect(await timesOf(direct, 'a')).toBe(1);
  });

  it('is cut when it takes too long for its caller and nothing watches', async () => {
    const { direct, url } = await behindProxies();
    await lock(direct.options.url);
    const database = await openDatabase({ url, connections: 1, bounds: { wait: 400 } });
    expect(await causeOf(database.change(WAITING, ['a']))).toBe('no answer in 0.4 s');
    expect(await database.read('select 1 as number')).toEqual([{ number: 1 }]);
  });

  it.each([
    ['syntax error at or near "selct"', 'selct 1'],
    ['canceling statement due to user request', 'select pg_cancel_backend(pg_backend_pid()), pg_sleep(10)'],
    ['could not extend', `do $$ begin raise exception 'could not extend' using errcode = '53100'; end $$`],
    ['could not read', `do $$ begin raise exception 'could not read' using errcode = '58030'; end $$`],
  ])('that the database refuses (%s) is a 503 with this cause, at once', async (cause, text) => {
    const database = await openDatabase({ url: await emptyDatabase() });
    expect(await causeOf(database.read(text))).toContain(cause);
    expect(database.load()).toMatchObject({ busy: 0, repeated: 0 });
  });

  it('with values that no column takes is a defect', async () => {
    const database = await openDatabase({ url: await emptyDatabase() });
    await expect(database.read('select $1::int4', ['x'])).rejects.toMatchObject({ code: '22P02' });
  });
});

describe.skipIf(cluster === null)('connections', () => {
  it('are left to reads when changes wait', async () => {
    const { direct, url } = await behindProxies();
    const unlock = await lock(direct.options.url);
    const database = await openDatabase({ url });
    const changes = ['a', 'b', 'c', 'd'].map(key => database.change(WAITING, [key]));
    await expect.poll(() => waitingForLocks(direct)).toBe(3);
    expect(await database.read('select 1 as number')).toEqual([{ number: 1 }]);
    expect(database.load()).toMatchObject({ open: 4, busy: 3, waiting: 1 });
    await unlock();
    await Promise.all(changes);
    expect(database.load()).toMatchObject({ busy: 0, waiting: 0 });
  });

  it('serve as many statements as may wait, and refuse more at once', async () => {
    const { direct, url } = await behindProxies();
    const unlock = await lock(direct.options.url);
    const database = await openDatabase({ url, connections: 2, bounds: { waiting: 2 } });
    const changes = ['a', 'b', 'c'].map(key => database.change(WAITING, [key]));
    expect(await causeOf(database.change(WAITING, ['d']))).toBe('2 statements wait for a connection');
    await unlock();
    await Promise.all(changes);
  });

  it('are made again when the server is back, and statements wait that long', async () => {
    const { proxy, url } = await behindProxies();
    const database = await openDatabase({ url });
    proxy.refuses = true;
    proxy.cut();
    const reads = Array.from({ length: 20 }, (_, i) => database.read('select $1::int4 as number', [i]));
    await expect.poll(() => database.load().awaySeconds).toBeGreaterThan(0);
    expect(database.load()).toMatchObject({ open: 0 });
    proxy.refuses = false;
    expect(await Promise.all(reads)).toEqual(Array.from({ length: 20 }, (_, number) => [{ number }]));
    const { awaySeconds } = database.load();
    await database.read('select 1');
    expect(database.load().awaySeconds).toBe(awaySeconds);
  });

  it.each([1, 2, 4])('are made to each server in turn, with %d at a time', async connections => {
    const { proxies, url } = await behindProxies(3);
    const database = await openDatabase({ url, connections });
    for (const next of [1, 2, 0]) {
      for (const [i, proxy] of proxies.entries()) proxy.refuses = i !== next;
      for (const proxy of proxies) proxy.cut();
      const before = proxies[next]!.accepted;
      await Promise.all(Array.from({ length: 8 }, () => database.read('select 1')));
      expect(proxies[next]!.accepted).toBeGreaterThan(before);
    }
    // The one that worked last is the first to be tried.
    for (const proxy of proxies) proxy.refuses = false;
    await expect.poll(() => database.load().open).toBe(connections);
    const accepted = proxies.map(proxy => proxy.accepted);
    proxies[0]!.cut();
    await database.read('select 1');
    expect(proxies.map(proxy => proxy.accepted - 1)).toEqual([accepted[0], accepted[1]! - 1, accepted[2]! - 1]);
  });

  it('are made again when a server ends them in the moment when they are made', async () => {
    const { url, proxy } = await behindProxies();
    const ready = Buffer.from('5a0000000549', 'hex');
    const ended = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
    const head = Buffer.from('E\0\0\0\0');
    head.writeInt32BE(ended.length + 4, 1);
    const message = Buffer.concat([Buffer.from('520000000800000000', 'hex'), ready, head, ended]);
    let times = 0;
    const server = createServer(socket => {
      if (times++ > 0) return void socket.pipe(connect(proxy.port, '127.0.0.1')).pipe(socket);
      socket.on('error', () => {}).once('data', () => socket.end(message));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const database = await openDatabase({ url: url.replace(/:\d+\//, `:${(server.address() as AddressInfo).port}/`) });
    expect(await database.read('select 1 as number')).toEqual([{ number: 1 }]);
  });

  it('are given up when a server accepts them and says nothing', async () => {
    const { proxies, url } = await behindProxies(2);
    proxies[0]!.answers = 'drop';
    const database = await openDatabase({ url, bounds: { connect: 100 } });
    expect([proxies[0]!.accepted, proxies[1]!.accepted]).toEqual([1, 1]);
    expect(await database.read('select 1 as number')).toEqual([{ number: 1 }]);
  });

  it('are replaced when they are old', async () => {
    const database = await openDatabase({ url: await emptyDatabase(), bounds: { connection: 100 } });
    const session = await sessionOf(database);
    await expect.poll(() => database.load().open).toBe(0);
    expect(await sessionOf(database)).not.toBe(session);
  });

  it('end within a time with a statement that hangs', async () => {
    const { direct, proxy, url } = await behindProxies();
    await lock(direct.options.url);
    const database = await openDatabase({ url, isWatched: true, bounds: { close: 100 } });
    const changed = database.change(WAITING, ['a']);
    const failed = causeOf(changed);
    await expect.poll(() => waitingForLocks(direct)).toBe(1);
    proxy.requests = 'drop';
    await database.close();
    expect(await failed).toBe('the store is closed');
    await expect.poll(() => proxy.open).toBe(0);
    await expect(database.read('select 1')).rejects.toThrow('the store is closed');
  });

  it('end when what runs on them has ended', async () => {
    const { direct, url } = await behindProxies();
    const unlock = await lock(direct.options.url);
    const database = await openDatabase({ url });
    const changed = database.change(WAITING, ['a']);
    await expect.poll(() => waitingForLocks(direct)).toBe(1);
    const closed = database.close();
    await unlock();
    expect(await changed).toMatchObject({ count: 1 });
    await closed;
  });
});

describe.skipIf(cluster === null)('the watch', () => {
  it('has statements run on another server when theirs vanishes', async () => {
    const { direct, proxies, url } = await behindProxies(2);
    const database = await openDatabase({ url, isWatched: true, bounds: { watch: 10, silence: 100 } });
    await expect.poll(() => proxies[0]!.open).toBe(2);
    proxies[0]!.requests = 'drop';
    proxies[0]!.answers = 'drop';
    const changed = database.change(`${NOTE} returning times`, ['a']);
    expect((await changed).rows).toEqual([{ times: 1 }]);
    expect(await timesOf(direct, 'a')).toBe(1);
    expect(database.load()).toMatchObject({ repeated: 1 });
    await expect.poll(() => proxies[1]!.open).toBe(2);
    await expect.poll(() => proxies[0]!.open).toBe(0);
  });

  it('takes a process that stood still for no server that vanished', async () => {
    const { proxy, url } = await behindProxies();
    const database = await openDatabase({ url, isWatched: true, bounds: { watch: 1, silence: 200 } });
    await expect.poll(() => proxy.open).toBe(2);
    const session = await sessionOf(database);
    for (let stops = 0; stops < 3; stops++) {
      const held = proxy.stopped();
      proxy.answers = 'hold';
      await held;
      proxy.release();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    }
    expect(await sessionOf(database)).toBe(session);
    expect(database.load()).toMatchObject({ awaySeconds: 0, repeated: 0 });
  });

  it('that loses its own connection makes another, and leaves the others alone', async () => {
    const { direct, proxy, url } = await behindProxies();
    const database = await openDatabase({ url, isWatched: true, bounds: { watch: 10, silence: 100 } });
    await expect.poll(() => proxy.open).toBe(2);
    const session = await sessionOf(database);
    const end = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like $1 and pid <> $2';
    // It is open, and may not have asked yet.
    await expect.poll(() => direct.read(end, ['select current_setting%', session])).toHaveLength(1);
    await expect.poll(() => proxy.accepted).toBe(3);
    expect(await sessionOf(database)).toBe(session);
  });

  it('keeps the time of the database', async () => {
    const database = await openDatabase({ url: await emptyDatabase() });
    const [row] = await database.read<{ time: number }>('select floor(extract(epoch from clock_timestamp()) * 1000)::int8 as time');
    expect(Math.abs(database.now() - row!.time)).toBeLessThan(1000);
    expect(Math.abs(database.load().clockOffsetSeconds)).toBeLessThan(1);
    expect(database.synchronousCommit).toBe('on');
  });
});

describe.skipIf(cluster === null)('a database that cannot be opened', () => {
  const opening = (url: string, options: Partial<DatabaseOptions> = {}) => newDatabase({ url, ...options }).open();

  it('does not exist', async () => {
    const url = cluster!.replace(/postgres$/, 'nothing');
    await expect(opening(url)).rejects.toThrow(
      /^cannot use the database nothing at .*: database "nothing" does not exist; make it: create database nothing$/,
    );
  });

  it('has a host without an address', async () => {
    await expect(opening('postgres://ballast:secret@ballast.invalid/ballast')).rejects.toThrow(
      /^cannot use the database ballast at ballast.invalid:5432: getaddrinfo .*; is the name of the host right\?$/,
    );
  });

  it('has hosts of which the last one works', async () => {
    const { url } = await behindProxies();
    await opening(url.replace('@', '@ballast.invalid:1,'));
  });

  it('asks for a file that cannot be read', async () => {
    const url = await emptyDatabase();
    const advice = 'are BALLAST_DATABASE_PASSWORD_FILE and BALLAST_DATABASE_CA right, and may this process read these files?';
    const missing = join(temporaryFolder(), 'ca');
    await expect(opening(url.replace(/@[^/]+/, '@127.0.0.1'), { ca: missing })).rejects.toThrow(`open '${missing}'; ${advice}`);
  });

  it('has a table of another program', async () => {
    const database = await openDatabase({ url: await databaseWithoutTables() });
    await database.change('create table projects (title text)');
    await expect(migrate(database)).rejects.toThrow('it has a table "projects" of another program: make a database for Ballast only');
    expect(await database.read(`select tablename from pg_tables where schemaname = 'public'`)).toEqual([{ tablename: 'projects' }]);
  });

  it('does not answer, until the wait is over', async () => {
    const { proxy, url } = await behindProxies();
    proxy.refuses = true;
    await expect(opening(url, { bounds: { wait: 100 } })).rejects.toThrow(/: Connection terminated unexpectedly$/);
    const refused = `postgres://ballast:secret@127.0.0.1:${await freePort()}/ballast`;
    await expect(opening(refused, { bounds: { wait: 100 } })).rejects.toThrow(
      /: connect ECONNREFUSED .*; does it run there, and can this machine reach it\?$/,
    );
  });
});

describe.skipIf(cluster === null)('a cluster of its own', () => {
  const { tlsCert, tlsKey } = createCertificate('localhost', temporaryFolder(afterAll));
  const other = createCertificate('localhost', temporaryFolder(afterAll)).tlsCert;
  let own: Cluster;
  let port = 0;
  let direct: Database;

  beforeAll(async () => {
    port = await freePort();
    const settings = { ssl: 'on', listen_addresses: '127.0.0.1', port: String(port) };
    const hba = 'local all all trust\nhostssl all secret 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n';
    const files = { 'server.crt': readFileSync(tlsCert, 'utf8'), 'server.key': readFileSync(tlsKey, 'utf8'), 'pg_hba.conf': hba };
    own = (await startCluster(settings, files))!;
    const url = await createDatabase(own.url.replace('/postgres', `:${port}/postgres`), 'ballast');
    await prepare(url);
    direct = new Database({ url, connections: 4 });
    await direct.open();
    await direct.change(`create role secret login password 'it''s @ secret'`);
  });
  afterAll(async () => {
    await direct?.close();
    await own?.stop();
  });

  const url = (login: string, host: string, parameters = '') => `postgres://${login}@${host}:${port}/ballast${parameters}`;
  const set = async (name: string, value: string | null) => {
    await direct.read(value === null ? `alter system reset ${name}` : `alter system set ${name} = '${value}'`);
    await direct.read('select pg_reload_conf()');
    await expect
      .poll(async () => (await direct.read<{ value: string }>(`select current_setting('${name}') as value`))[0]!.value)
      .toBe(value ?? '');
  };

  it('is used over TLS when its certificate is right', async () => {
    const database = await openDatabase({ url: url('ballast', 'localhost', '?sslmode=verify-full'), ca: tlsCert, isWatched: true });
    expect(await database.read('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }]);
    expect(database.plainHost).toBeNull();
    await database.close();
    const named = await openDatabase({ url: url('ballast', 'localhost'), ca: tlsCert });
    expect(await named.read('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }]);
  });

  it.each([
    ['of another authority', 'localhost', () => other, /self.signed certificate.*; name the certificate of the authority/],
    ['of an authority that Node does not trust', 'localhost', () => null, /self.signed certificate.*; name/],
    ['of another host', '127.0.0.1', () => tlsCert, /does not match .*; name the certificate .* and the host as that certificate does/],
  ])('is refused at once with a certificate %s', async (_, host, ca, message) => {
    const database = newDatabase({ url: url('ballast', host, '?sslmode=verify-full'), ca: ca() });
    await expect(database.open()).rejects.toThrow(message);
  });

  it('is refused when it has no TLS', async () => {
    const { proxy } = await behindProxies();
    const database = newDatabase({ url: `postgres://ballast@localhost:${proxy.port}/ballast?sslmode=verify-full` });
    await expect(database.open()).rejects.toThrow('The server does not support SSL connections');
  });

  it('gets the password of the URL, or of a file that may change', async () => {
    const options = { ca: tlsCert, connections: 1 };
    await openDatabase({ ...options, url: url('secret:it%27s%20%40%20secret', 'localhost') });
    const passwordFile = join(temporaryFolder(), 'password');
    writeFileSync(passwordFile, 'wrong');
    const database = newDatabase({ ...options, url: url('secret', 'localhost'), passwordFile });
    await expect(database.open()).rejects.toThrow(/authentication failed for user "secret"; is the password right/);
    writeFileSync(passwordFile, "it's @ secret\n");
    await database.open();
    const missing = newDatabase({ ...options, url: url('secret', 'localhost'), passwordFile: '/nowhere' });
    await expect(missing.open()).rejects.toThrow("ENOENT: no such file or directory, open '/nowhere'");
    const none = newDatabase({ ...options, url: url('secret', 'localhost') });
    await expect(none.open()).rejects.toThrow('it asks for a password, and there is none; is the password right');
  });

  it('is left when it takes no more writes, and used again when it does', async () => {
    const database = await openDatabase({ url: url('ballast', '127.0.0.1'), isWatched: true, bounds: { watch: 10 } });
    const session = await sessionOf(database);
    await set('default_transaction_read_only', 'on');
    await expect.poll(() => database.load()).toMatchObject({ open: 0 });
    const changed = database.change(NOTE, ['read-only']);
    await direct.read('alter system reset default_transaction_read_only');
    await direct.read('select pg_reload_conf()');
    expect(await changed).toMatchObject({ count: 1 });
    expect(await sessionOf(database)).not.toBe(session);
  });

  it('waits for its standby, and a wait that was ended is begun again', async () => {
    const database = await openDatabase({ url: url('ballast', '127.0.0.1'), isWatched: true, bounds: { wait: 300, watch: 10 } });
    const patient = await openDatabase({ url: url('ballast', '127.0.0.1') });
    await set('synchronous_standby_names', 'missing');
    const waiting = async () =>
      (await direct.read<{ count: number }>(`select count(*) from pg_stat_activity where wait_event = 'SyncRep'`))[0]!.count;
    // The process that counts the standbys reads the setting later than sessions do.
    await expect.poll(() => causeOf(database.change(NOTE, ['a']))).toBe('no answer in 0.3 s');
    expect(await causeOf(database.readDurably('select times from seen'))).toBe('no answer in 0.3 s');
    expect(await database.read('select 1 as number')).toEqual([{ number: 1 }]);
    expect(database.load()).toMatchObject({ busy: 2, repeated: 0 });
    const changed = patient.change(`insert into seen (key, times) values ('b', 1) on conflict do nothing`);
    await expect.poll(waiting).toBe(3);
    await direct.read(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query like '%do nothing'`);
    await expect.poll(() => patient.load().repeated).toBe(1);
    await expect.poll(waiting).toBe(3);
    await set('synchronous_standby_names', null);
    expect(await changed).toMatchObject({ count: 0 });
    expect(await commits(direct, patient.process)).toBe(0);
    await expect.poll(() => database.load().busy).toBe(0);
  });
});
