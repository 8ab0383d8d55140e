import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cluster, databaseWithoutTables, openedStore } from '../../../harness/postgresql-store.js';
import { ended, printed } from '../../../harness/process.js';
import { runInProcess } from '../../../harness/run-in-process.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { statement } from '../../../testbed/postgresql.js';

/** A folder with a project, and an empty database. */
async function places() {
  const [folder, database] = [temporaryFolder(), await databaseWithoutTables()];
  const run = (...args: string[]) => runInProcess(args, { BALLAST_DATABASE_URL: database });
  await runInProcess(['project', 'create', 'web', '--data-dir', folder]);
  return { folder, database, run };
}

describe.skipIf(cluster === null)('the commands on a database', () => {
  it('move a folder there and back', async () => {
    const { folder, database, run } = await places();
    const there = await run('move', 'to-database', '--data-dir', folder);
    expect(there).toEqual(printed(expect.stringContaining(`moved ${folder} to ${database}: 1 project, 0 builds, 0 paths; both are equal`)));
    expect((await run('project', 'list')).stdout).toMatch(/^web\t/);
    const back = temporaryFolder();
    expect((await run('move', 'to-folder', '--data-dir', back)).code).toBe(0);
    expect((await runInProcess(['project', 'list', '--data-dir', back])).stdout).toMatch(/^web\t/);
  });

  it('move nothing to a database that is not empty, or that is served', async () => {
    const { folder, database, run } = await places();
    const store = await openedStore(database);
    await store.maintenance.processes!.publish('{}');
    const attempt = `cannot move ${folder} to ${database}`;
    expect(await run('move', 'to-database', '--data-dir', folder)).toMatchObject(
      ended(1, `${attempt}: 1 process served the database in the last 35 s`),
    );
    await store.maintenance.processes!.leave();
    await run('project', 'create', 'other');
    expect(await run('move', 'to-database', '--data-dir', folder)).toMatchObject(
      ended(1, `${attempt}: the target is not empty: it has projects; name another one`),
    );
  });

  it('check it, and repair it', async () => {
    const { run } = await places();
    await run('project', 'create', 'web');
    expect(await run('check', '--repair')).toEqual(printed(expect.stringMatching(/^sound; /)));
  });

  it('check no database whose sequences their role may not read, and move none', async () => {
    const role = `reader_${randomUUID().replaceAll('-', '')}`;
    await statement(cluster!, `create role ${role} login`);
    // After the database is dropped, where it has rights.
    onTestFinished(async () => void (await statement(cluster!, `drop role ${role}`)));
    const { database, run } = await places();
    await run('project', 'create', 'web');
    await statement(database, `grant select, insert, update, delete on all tables in schema public to ${role}`);
    const address = new URL(database);
    address.username = role;
    const env = { BALLAST_DATABASE_URL: address.href };
    const refused = new RegExp(`permission denied for sequence \\w+; grant it to the user ${role}`);
    for (const command of [['check'], ['move', 'to-folder', '--data-dir', temporaryFolder()]])
      expect(await runInProcess(command, env)).toMatchObject({ code: 1, stderr: expect.stringMatching(refused) as string });
    await statement(database, `grant select on all sequences in schema public to ${role}`);
    expect(await runInProcess(['check'], env)).toEqual(printed(expect.stringMatching(/^sound; /)));
  });

  it.each([
    ['backup', ['backup', 'x'], 2, 'it is a database: use pg_dump'],
    [
      'a server with a folder, too',
      ['serve', '--data-dir', 'x'],
      2,
      'BALLAST_DATABASE_URL and BALLAST_DATA_DIR (--data-dir) are both given',
    ],
    ['a list of an empty database', ['project', 'list'], 1, 'it has no tables of Ballast: name the database of the server'],
  ])('refuse %s', async (_, args, code, sentence) => {
    const { run } = await places();
    expect(await run(...args)).toMatchObject(ended(code, sentence));
  });
});
