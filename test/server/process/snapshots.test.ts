import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { locks } from '../../../src/base/locks.js';
import { openParts } from '../../../src/server/store/lmdb/parts.js';
import type { QueueRecord } from '../../../src/server/store/lmdb/records.js';
import { failing, folderWithStore, skipUntraceable } from '../../cli/failing-calls.js';
import { signedInOperator } from '../../harness/browser.js';
import { Clock } from '../../harness/clock.js';
import { initialise, manyPaths, pathsIn, pull, pullAll, record, sortPaths } from '../../harness/messages.js';
import { problemsIn } from '../../harness/problems.js';
import { spawnServer } from '../../harness/process.js';
import { startServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const HOURS = 3600;

/** A server that makes a snapshot every six hours, and keeps two. Time stands still unless a test advances it. */
async function start({ dataDir = temporaryFolder(), folder = temporaryFolder(), clock = new Clock(), uptime = new Clock() } = {}) {
  const settings = { dataDir, snapshotEvery: '6h', snapshotDir: folder, snapshotKeep: '2' };
  const server = await startServer(settings, clock.now, uptime.now);
  // The first one was begun by the start.
  await server.service.snapshot();
  return {
    server,
    dataDir,
    folder,
    clock,
    uptime,
    names: () => readdirSync(folder).sort(),
    async pass(seconds: number) {
      clock.advance({ seconds });
      uptime.advance({ seconds });
      await server.service.snapshot();
    },
    errors: () => server.log.filter(line => line.includes('"level":"error"')),
    metrics: () => metricsOf(server.url),
  };
}

async function metricsOf(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^ballast_snapshot_(\w+) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)] as const),
  );
}

/** The name of the snapshot of a time of 2026-01-01, where clocks of tests begin. */
const named = (time: string) => `ballast-2026-01-01T${time}Z.lmdb`;
const FIRST = named('00-00-00');
const unsound = (time: string) => named(time).replace('.lmdb', '.unsound.lmdb');
const LOCK = 'snapshots.lock';

/** Keeps other processes from opening a store: one that copies it waits. */
function holdStore(dataDir: string): void {
  const file = openSync(join(dataDir, 'open.lock'), 'r+');
  onTestFinished(() => closeSync(file));
  expect(locks.tryLock(file)).toBe(true);
}

const waitForPart = (folder: string) => vi.waitFor(() => expect(existsSync(join(folder, '.part/lock'))).toBe(true), 10_000);

/** Returns a new folder with a snapshot as its store. */
function restored(snapshot: string): string {
  const dataDir = temporaryFolder();
  copyFileSync(snapshot, join(dataDir, 'ballast.lmdb'));
  return dataDir;
}

describe('a snapshot', () => {
  it('has all acknowledged data, also of the journal; it is sound and can be served; metrics and the page of the server tell of it', async () => {
    const { server, folder, pass, names, metrics, clock } = await start();
    const paths = manyPaths(300);
    const queue = { node_total: 2, node_build_id: '7' };
    await initialise(server, paths, { ...queue, skip_pull: true });
    await pass(6 * HOURS);
    expect(names()).toEqual([FIRST, named('06-00-00'), LOCK]);
    const before = pathsIn(await pull(server, queue));
    await record(server, { commit_hash: 'acknowledged' });
    await pass(6 * HOURS);
    const name = named('12-00-00');
    expect(names()).toEqual([named('06-00-00'), name, LOCK]);
    const { size, mode } = statSync(join(folder, name));
    expect(mode & 0o777).toBe(0o600);
    expect(await metrics()).toEqual({
      last_success_timestamp_seconds: clock.millis / 1000,
      bytes: size,
      duration_seconds: expect.any(Number) as number,
      failures_total: 0,
      unsound: 0,
    });
    const operator = await signedInOperator(server.url, server.store);
    const { json } = await operator.get('/dashboard/server');
    expect(json.backup.last_at).toBe('2026-01-01T12:00:00.000Z');
    expect(json.processes[0].health).toContainEqual({ name: 'snapshots', is_ok: true, text: 'the newest is of 2026-01-01 12:00 UTC' });

    const dataDir = restored(join(folder, name));
    expect(await problemsIn(dataDir)).toEqual([]);
    const again = await startServer({ dataDir });
    expect((await again.get('/v1/builds')).json.data).toMatchObject([{ commit_hash: 'acknowledged' }]);
    const rest = await pullAll(again, { ...queue, node_index: 1 });
    expect(sortPaths([...before, ...rest])).toEqual(paths);
  });

  it('is made when the interval has passed, also over a restart; the newest are kept, and what others put in the folder', async () => {
    const folder = temporaryFolder();
    const others = ['ballast-2025-12-31T00-00-00Z.lmdb.gz', 'ballast-before-upgrade.lmdb', 'ballast.lmdb', 'notes'];
    for (const name of others) writeFileSync(join(folder, name), '');
    // Named as a snapshot, and none.
    const folders = ['ballast-2025-12-30T00-00-00Z.lmdb', 'ballast-2025-12-31T25-00-00Z.lmdb'];
    for (const name of folders) mkdirSync(join(folder, name));
    symlinkSync('notes', join(folder, 'ballast-2025-12-29T00-00-00Z.lmdb'));
    const kept = readdirSync(folder);
    const { server, dataDir, pass, names, clock } = await start({ folder });
    const own = () => names().filter(name => !kept.includes(name));
    await pass(6 * HOURS - 1);
    expect(own()).toEqual([FIRST, LOCK]);
    await pass(1);
    expect(own()).toEqual([FIRST, named('06-00-00'), LOCK]);
    await server.close();

    clock.advance({ seconds: 5 * HOURS });
    const again = await start({ folder, dataDir, clock });
    expect(own()).toEqual([FIRST, named('06-00-00'), LOCK]);
    expect(await again.metrics()).toMatchObject({ last_success_timestamp_seconds: Date.UTC(2026, 0, 1, 6) / 1000, duration_seconds: 0 });
    await again.pass(1 * HOURS);
    expect(own()).toEqual([named('06-00-00'), named('12-00-00'), LOCK]);
    expect(names()).toEqual(expect.arrayContaining(kept));
  });

  it('is made on time while the clock is set back; those of later times stay, because they may be older or newer', async () => {
    const later = ['12-00-00', '18-00-00'].map(named);
    const { server, clock, folder, dataDir, pass, names } = await start();
    for (let i = 0; i < 3; i++) await pass(6 * HOURS);
    expect(names()).toEqual([...later, LOCK]);
    clock.advance({ seconds: -18 * HOURS - 1800 });
    await pass(6 * HOURS - 1);
    expect(names()).toEqual([...later, LOCK]);
    await pass(1);
    expect(names()).toEqual([named('05-30-00'), ...later, LOCK]);
    await server.close();

    clock.advance({ seconds: -1 * HOURS });
    const again = await start({ clock, folder, dataDir });
    expect(names()).toEqual([named('04-30-00'), named('05-30-00'), ...later, LOCK]);
    for (let i = 0; i < 2; i++) await again.pass(6 * HOURS);
    expect(names()).toEqual([...['12-00-00', '16-30-00', '18-00-00'].map(named), LOCK]);
  });

  it('that exists under its name is not overwritten', async () => {
    const { pass, folder, names, errors } = await start();
    const taken = named('06-00-00');
    writeFileSync(join(folder, taken), 'of somebody else');
    await pass(6 * HOURS);
    expect(names()).toEqual([FIRST, taken, LOCK]);
    expect(statSync(join(folder, taken)).size).toBe('of somebody else'.length);
    expect(errors()).toEqual([expect.stringContaining(`${taken} exists`)]);
  });
});

describe('a snapshot of a store with an inconsistent record', () => {
  /** Gives the queue a digest as that of its list, which is returned, and a record of no project a wrong value. */
  async function damage(dataDir: string, digest: string, nextProject: number): Promise<string> {
    const { root, queues, meta } = openParts(dataDir);
    const [{ key, value }] = [...queues.getRange()] as [{ key: string; value: QueueRecord }];
    await queues.put(key, { ...value, list: { ...value.list, digest } });
    await meta.put('nextProject', nextProject);
    await root.close();
    return value.list.digest;
  }

  it('is kept and marked; log, metric and page say in which project, and name no key; the newest sound one stays until there is another', async () => {
    const first = await start();
    const { dataDir, folder, clock, uptime } = first;
    await initialise(first.server, ['a_spec.rb', 'b_spec.rb']);
    await first.server.close();
    const digest = await damage(dataDir, 'of another list', 1);
    const { server, pass, names, errors, metrics } = await start({ dataDir, folder, clock, uptime });
    for (let i = 0; i < 3; i++) await pass(6 * HOURS);
    expect(names()).toEqual([FIRST, unsound('12-00-00'), unsound('18-00-00'), LOCK]);
    const places = '1 problem in queues of the project "default"; 1 problem in meta';
    expect(errors()).toHaveLength(3);
    const [line] = errors().map(text => JSON.parse(text) as { problems: string; msg: string });
    expect(line).toMatchObject({ problems: places, msg: expect.stringContaining('made a snapshot that is not sound') });
    const since = Date.UTC(2026, 0, 1) / 1000;
    expect(await metrics()).toMatchObject({ unsound: 1, failures_total: 0, last_success_timestamp_seconds: since });
    const operator = await signedInOperator(server.url, server.store);
    const health = async () => (await operator.get('/dashboard/server')).json.processes[0].health;
    expect((await operator.get('/dashboard/server')).json.backup).toEqual({ last_at: new Date(since * 1000).toISOString() });
    const text = `the newest, of 2026-01-01 18:00 UTC, is not sound: ${places}; the newest sound one is of 2026-01-01 00:00 UTC`;
    expect(await health()).toContainEqual({ name: 'snapshots', is_ok: false, text });
    await record(server, { commit_hash: 'acknowledged' });
    await pass(6 * HOURS);
    await server.close();
    const copy = restored(join(folder, names().at(-2)!));
    expect(await problemsIn(copy)).toHaveLength(2);
    expect((await (await startServer({ dataDir: copy })).get('/v1/builds')).json.data).toMatchObject([{ commit_hash: 'acknowledged' }]);

    const again = await start({ dataDir, folder, clock, uptime });
    expect(await again.metrics()).toMatchObject({ unsound: 1, last_success_timestamp_seconds: since });
    await again.server.close();
    await damage(dataDir, digest, 9);
    const mended = await start({ dataDir, folder, clock, uptime });
    await mended.pass(6 * HOURS);
    expect(await mended.metrics()).toMatchObject({ unsound: 0 });
    expect((await mended.server.store.values.get('backup'))! - Date.UTC(2026, 0, 2)).toBe(6 * HOURS * 1000);
    await mended.pass(6 * HOURS);
    expect(mended.names()).toEqual([...['06', '12'].map(hour => `ballast-2026-01-02T${hour}-00-00Z.lmdb`), LOCK]);
    expect(mended.errors()).toEqual([]);
  });
});

describe('a snapshot that fails', () => {
  it('because its folder is gone is logged and counted, and made within an hour after the folder is back', async () => {
    const { server, folder, pass, errors, names, metrics } = await start();
    renameSync(folder, `${folder}-away`);
    await pass(6 * HOURS);
    expect(errors()).toEqual([
      expect.stringMatching(
        /ENOENT.*"msg":"could not make a snapshot in \S+: the earlier ones stay, and the next attempt is in 1 h 00 m"\}/,
      ),
    ]);
    const first = Date.UTC(2026, 0, 1) / 1000;
    expect(await metrics()).toMatchObject({ last_success_timestamp_seconds: first, failures_total: 1 });
    const operator = await signedInOperator(server.url, server.store);
    expect((await operator.get('/dashboard/server')).json.processes[0].health).toContainEqual({
      name: 'snapshots',
      is_ok: false,
      text: 'the last attempt failed; see the log; the newest is of 2026-01-01 00:00 UTC',
    });
    renameSync(`${folder}-away`, folder);
    await pass(1 * HOURS - 1);
    expect(names()).toEqual([FIRST, LOCK]);
    await pass(1);
    expect(names()).toEqual([FIRST, named('07-00-00'), LOCK]);
    expect(await metrics()).toMatchObject({ last_success_timestamp_seconds: first + 7 * HOURS, failures_total: 1 });
  });

  it('because its disk is not mounted any more leaves nothing in the folder below it', async () => {
    const { folder, pass, errors, names } = await start();
    renameSync(folder, `${folder}-unmounted`);
    mkdirSync(folder);
    await pass(6 * HOURS);
    expect(names()).toEqual([]);
    expect(errors()).toEqual([expect.stringMatching(/snapshots\.lock, which this server made in \S+, is gone: mount the disk/)]);
    rmdirSync(folder);
    renameSync(`${folder}-unmounted`, folder);
    await pass(1 * HOURS);
    expect(names()).toEqual([FIRST, named('07-00-00'), LOCK]);
  });

  it('because a table of the store cannot be read leaves the earlier ones, and says which', async () => {
    const dataDir = await folderWithStore();
    const { root } = openParts(dataDir);
    // A text that is longer than the record.
    await root.openDB<Buffer, string>({ name: 'nodes', encoding: 'binary' }).put('x', Buffer.from([0xd9, 0xff]));
    await root.close();
    const folder = temporaryFolder();
    const good = ['ballast-2025-12-01T00-00-00Z.lmdb', 'ballast-2025-12-02T00-00-00Z.lmdb', 'ballast-2025-12-03T00-00-00Z.lmdb'];
    for (const name of good) writeFileSync(join(folder, name), '');
    const { names, errors, metrics } = await start({ dataDir, folder });
    expect(names()).toEqual([...good, LOCK]);
    expect(errors()).toEqual([expect.stringContaining('the copy is damaged: nodes cannot be read: ')]);
    expect(await metrics()).toMatchObject({ failures_total: 1, unsound: 0 });
  });

  it('because the disk is full leaves nothing of itself, and the server goes on', async context => {
    skipUntraceable(context);
    const [dataDir, folder] = [await folderWithStore(), temporaryFolder()];
    // The process that copies is traced, too.
    mkdirSync(join(folder, '.part'));
    const under = failing(join(folder, '.part'), 'write,pwrite64', 'error=ENOSPC');
    const server = await spawnServer({ dataDir, under, flags: ['--snapshot-every', '6h', '--snapshot-dir', folder] });
    await vi.waitFor(() => expect(server.stderr()).toContain('could not make a snapshot'), 20_000);
    expect(server.stderr()).toMatch(/space/i);
    expect(readdirSync(folder)).toEqual([LOCK]);
    await record(server);
    expect(await server.stop('SIGTERM')).toBe(0);
  });
});

describe('a snapshot under way', () => {
  it('is ended by a stop of the server, which leaves nothing of it', async () => {
    const { server, dataDir, folder, names, clock, uptime, errors } = await start();
    holdStore(dataDir);
    for (const each of [clock, uptime]) each.advance({ seconds: 6 * HOURS });
    const made = server.service.snapshot();
    await waitForPart(folder);
    writeFileSync(join(folder, '.part/ballast.lmdb'), 'half a copy');
    await server.close();
    await made;
    expect(names()).toEqual([FIRST, LOCK]);
    expect(errors()).toEqual([]);
  });

  it('ends with a server that is killed; the next one removes what is left, and makes it', async () => {
    const [dataDir, folder] = [await folderWithStore(), temporaryFolder()];
    const held = openSync(join(dataDir, 'open.lock'), 'r+');
    expect(locks.tryLock(held)).toBe(true);
    const program = fileURLToPath(new URL('../../../src/server/process/snapshot-process.js', import.meta.url));
    const child = fork(program, [dataDir, folder, 'ballast-2025-12-31T00-00-00Z.lmdb', 'ballast-2025-12-31T00-00-00Z.unsound.lmdb'], {
      execArgv: [],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await waitForPart(folder);
    writeFileSync(join(folder, '.part/ballast.lmdb'), 'half a copy');
    // It looks for the lock without a pause, and nothing else.
    child.kill('SIGSTOP');
    closeSync(held);
    // As when the process at the other end is killed.
    child.disconnect();
    child.kill('SIGCONT');
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(readdirSync(folder)).toEqual(['.part']);

    const { names } = await start({ dataDir, folder });
    expect(names()).toEqual([FIRST, LOCK]);
    expect(await problemsIn(restored(join(folder, FIRST)))).toEqual([]);
  });

  it('is the only one: what is asked for meanwhile waits for it', async () => {
    const { server, clock, uptime, names } = await start();
    for (const each of [clock, uptime]) each.advance({ seconds: 6 * HOURS });
    const first = server.service.snapshot();
    for (const each of [clock, uptime]) each.advance({ seconds: 6 * HOURS });
    await Promise.all([first, server.service.snapshot()]);
    expect(names()).toEqual([FIRST, named('06-00-00'), LOCK]);
  });
});

describe('a server does not start with a folder for snapshots that', () => {
  const refusal = async (dataDir: string, snapshotDir: string) => {
    const started = startServer({ dataDir, snapshotEvery: '6h', snapshotDir });
    await expect(started).rejects.toThrow(`cannot make snapshots in ${snapshotDir} (BALLAST_SNAPSHOT_DIR): `);
    return started.then(
      () => '',
      (error: Error) => error.message,
    );
  };

  it('does not exist', async () => {
    expect(await refusal(temporaryFolder(), join(temporaryFolder(), 'none'))).toContain('there is no such folder; create it');
  });

  it('is in the folder of the store, or the other way round, also by a link', async () => {
    const dataDir = temporaryFolder();
    const inside = join(dataDir, 'snapshots');
    mkdirSync(inside);
    const link = join(temporaryFolder(), 'link');
    symlinkSync(inside, link);
    for (const folder of [dataDir, inside, link]) expect(await refusal(dataDir, folder)).toContain('may contain the other');
    expect(await refusal(inside, dataDir)).toContain('may contain the other');
  });

  it('another server uses', async () => {
    const { folder } = await start();
    expect(await refusal(temporaryFolder(), folder)).toMatch(/another Ballast makes its snapshots there \(process \d+ on \S+\)/);
  });

  it('it cannot write', async () => {
    const folder = temporaryFolder();
    // Root may write everywhere, but nobody may lock a folder.
    mkdirSync(join(folder, LOCK));
    expect(await refusal(temporaryFolder(), folder)).toContain('cannot lock');
  });
});
