import { describe, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../../../src/server/store/postgresql/connection/database.js';
import type { Result } from '../../../../src/server/store/postgresql/connection/statements.js';
import { migrate } from '../../../../src/server/store/postgresql/schema.js';
import { postgresqlSignIns } from '../../../../src/server/store/postgresql/sign-ins.js';
import { postgresqlValues } from '../../../../src/server/store/postgresql/values.js';
import { cluster, emptyDatabase } from '../../../harness/postgresql-store.js';
import { DAY, HOUR, NOW } from '../contract/fixtures.js';

const CUT = new Error('the process was killed');

/** A database that this process reaches for a number of changes. */
class CutDatabase extends Database {
  changesLeft = Infinity;

  override change<Row>(text: string, values?: unknown[]): Promise<Result<Row>> {
    this.changesLeft -= 1;
    return this.changesLeft < 0 ? Promise.reject(CUT) : super.change<Row>(text, values);
  }
}

const link = { hash: 'link', project: 1, created_at: NOW, expires_at: NOW + HOUR };
const password = { hash: 'hash', salt: 'salt', cost: { N: 2, r: 1, p: 1 }, created_at: NOW };
const session = { hash: 'session', created_at: NOW, used_at: NOW, ends_at: NOW + DAY };

async function signIns() {
  const database = new CutDatabase({ url: await emptyDatabase(), connections: 2 });
  onTestFinished(() => database.close());
  await migrate(database);
  return { database, values: postgresqlValues(database), ...postgresqlSignIns(database) };
}

describe.skipIf(cluster === null)('no session is left of a process that is killed after its first statement', () => {
  it('when it deletes the link of the session', async () => {
    const { database, createLink, createSession, deleteLink, session: found } = await signIns();
    await createLink(link);
    expect(await createSession({ ...session, project: 1, origin: link.hash }, 9)).toBe(true);
    database.changesLeft = 1;
    await expect(deleteLink(link.hash)).rejects.toThrow(CUT);
    expect(await found(session.hash)).toBeNull();
  });

  it.each([null, { ...password, hash: 'other' }])('when it sets another password, %o', async other => {
    const { database, values, createSession, session: found } = await signIns();
    await values.put('password', password);
    expect(await createSession({ ...session, project: null, origin: password.hash }, 9)).toBe(true);
    database.changesLeft = 1;
    await expect(values.put('password', other)).rejects.toThrow(CUT);
    expect([await values.get('password'), await found(session.hash)]).toEqual([other, null]);
  });
});
