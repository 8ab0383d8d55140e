import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createToken, findToken, projectOfToken, revokeToken } from '../../../src/server/engine/access.js';
import { memoryStore } from '../../harness/memory-store.js';

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const emptyAccess = () => memoryStore().access;

/** With the projects 1, 2 and 3, whose first tokens are not of interest. */
async function accessToProjects() {
  const access = emptyAccess();
  for (const name of ['web', 'api', 'shop']) await access.createProject(name, `hash of ${name}`, NOW - 1);
  return access;
}

describe('tokens', () => {
  it('are not kept, only their hashes', async () => {
    const access = await accessToProjects();
    const token = await createToken(access, 1, NOW);
    expect(await access.tokens()).toHaveLength(4);
    expect(JSON.stringify(await access.tokens())).not.toContain(token.slice(0, 12));
  });

  it('that do not exist open nothing', async () => {
    const access = await accessToProjects();
    const token = await createToken(access, 1, NOW);
    for (const other of ['', 'x', token.toUpperCase(), token.slice(1), `${token}0`]) {
      expect([await projectOfToken(access, other), await findToken(access, other)]).toEqual([null, null]);
    }
  });

  it('cannot be revoked twice, or if they do not exist', async () => {
    const access = await accessToProjects();
    const token = await createToken(access, 1, NOW);
    await revokeToken(access, token, NOW);
    for (const name of [token, 'unknown'])
      await expect(revokeToken(access, name, NOW)).rejects.toThrow('cannot revoke: no token in force has this value or id');
  });

  it('have a valid name, if any, and a project that was not deleted', async () => {
    const access = await accessToProjects();
    for (const name of ['', 'a\nb', 'a\u202eb', 'x'.repeat(101)])
      await expect(createToken(access, 1, NOW, { name })).rejects.toThrow('its name has 1 to 100 characters');
    await expect(createToken(access, 99, NOW)).rejects.toThrow('cannot create a token: the project was deleted');
    expect(await access.tokens()).toHaveLength(3);
  });

  it('are noted as used once an hour, however often they are used', async () => {
    const access = await accessToProjects();
    const token = await createToken(access, 1, NOW);
    const noted: number[] = [];
    let written = Promise.resolve();
    const counting = {
      ...access,
      useToken(hash: string, at: number) {
        noted.push(at);
        return (written = access.useToken(hash, at));
      },
    };
    for (const at of [NOW, NOW, NOW + HOUR - 1, NOW + HOUR, NOW + HOUR + 1, NOW + 3 * HOUR]) {
      expect(await Promise.all([0, 1].map(() => projectOfToken(counting, token, at)))).toEqual([1, 1]);
      await written;
      await nextTurn();
    }
    expect(noted).toEqual([NOW, NOW + HOUR, NOW + 3 * HOUR]);
    expect(await findToken(access, token)).toMatchObject({ used_at: NOW + 3 * HOUR });
    await revokeToken(access, token, NOW + 4 * HOUR);
    expect(await projectOfToken(counting, token, NOW + 5 * HOUR)).toBeNull();
    expect(noted).toHaveLength(3);
  });

  it('open their project although the store cannot note that they are used', async () => {
    const access = await accessToProjects();
    const token = await createToken(access, 2, NOW);
    const failing = { ...access, useToken: () => Promise.reject(new Error('the disk is full')) };
    for (const at of [NOW, NOW + 1]) expect(await projectOfToken(failing, token, at)).toBe(2);
  });
});
