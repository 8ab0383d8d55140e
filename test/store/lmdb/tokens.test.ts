import { describe, expect, it } from 'vitest';
import { createProject, createToken, findToken, projectOfToken, revokeToken, tokenId } from '../../../src/engine/access.js';
import { lmdbAccess } from '../../../src/store/lmdb/access.js';
import { temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);

describe('tokens', () => {
  it('are 64 hex digits, all different, and open their project only', async () => {
    const access = lmdbAccess(temporaryStore());
    const tokens = await Promise.all([1, 1, 2].map(project => createToken(access, project, NOW)));
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(await Promise.all(tokens.map(token => projectOfToken(access, token)))).toEqual([1, 1, 2]);
  });

  it('are nowhere in the store', async () => {
    const store = temporaryStore();
    const access = lmdbAccess(store);
    const token = await createToken(access, 1, NOW);
    const records = [...store.tokens.getRange()];
    expect(records.length).toBe(1);
    expect(JSON.stringify(records)).not.toContain(token.slice(0, 12));
    expect(JSON.stringify(access.tokens())).not.toContain(token.slice(0, 12));
  });

  it('that were never made open nothing', async () => {
    const access = lmdbAccess(temporaryStore());
    const token = await createToken(access, 1, NOW);
    for (const other of ['', 'x', token.toUpperCase(), token.slice(1), `${token}0`]) {
      expect(await projectOfToken(access, other)).toBeNull();
      expect(await findToken(access, other)).toBeNull();
    }
  });

  it('open nothing once revoked, while the project’s other tokens still do', async () => {
    const access = lmdbAccess(temporaryStore());
    const [old, fresh] = [await createToken(access, 1, NOW), await createToken(access, 1, NOW + 1)];
    await revokeToken(access, old, NOW + 2);
    expect(await projectOfToken(access, old)).toBeNull();
    expect(await findToken(access, old)).toMatchObject({ project: 1, revoked_at: NOW + 2 });
    expect(await projectOfToken(access, fresh)).toBe(1);
  });

  it('are revoked by the id that the list shows', async () => {
    const access = lmdbAccess(temporaryStore());
    const [first, second] = [await createToken(access, 1, NOW), await createToken(access, 1, NOW + 1)];
    await createToken(access, 2, NOW);
    const listed = access.tokens().filter(({ project }) => project === 1);
    expect(listed.map(({ created_at, revoked_at }) => [created_at, revoked_at])).toEqual([
      [NOW, null],
      [NOW + 1, null],
    ]);
    const id = tokenId(listed[1]!);
    expect(await revokeToken(access, id, NOW + 5)).toBe(id);
    expect(access.token(listed[1]!.hash)).toMatchObject({ revoked_at: NOW + 5 });
    expect(await Promise.all([first, second].map(token => projectOfToken(access, token)))).toEqual([1, null]);
  });

  it('cannot be revoked twice, nor when they are unknown', async () => {
    const access = lmdbAccess(temporaryStore());
    const token = await createToken(access, 1, NOW);
    await revokeToken(access, token, NOW);
    await expect(revokeToken(access, token, NOW)).rejects.toThrow('cannot revoke: no token in force has this value or id');
    await expect(revokeToken(access, 'unknown', NOW)).rejects.toThrow('cannot revoke');
  });

  it('may be given, as the bootstrap token is', async () => {
    const access = lmdbAccess(temporaryStore());
    const token = 'chosen-by-the-operator-0123456789';
    expect(await createToken(access, 3, NOW, token)).toBe(token);
    expect(await projectOfToken(access, token)).toBe(3);
  });
});

describe('projects', () => {
  it('are numbered from 1 and found by name', async () => {
    const access = lmdbAccess(temporaryStore());
    const made = [await createProject(access, 'web', NOW), await createProject(access, 'api/v2', NOW)];
    expect(made.map(({ id }) => id)).toEqual([1, 2]);
    expect(access.project('web')).toEqual({ id: 1, name: 'web', created_at: NOW, default_branch: null });
    expect(access.project('Web')).toBeNull();
    expect(access.projects().map(({ name }) => name)).toEqual(['web', 'api/v2']);
  });

  it('of one name are made once, however many ask at once', async () => {
    const access = lmdbAccess(temporaryStore());
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => createProject(access, 'web', NOW)));
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(String(result.reason)).toContain('it exists already');
    }
    expect(access.projects().length).toBe(1);
  });

  it('are refused a name that cannot be one', async () => {
    const access = lmdbAccess(temporaryStore());
    for (const name of ['', ' web', '-web', 'a\nb', 'x'.repeat(201)]) {
      await expect(createProject(access, name, NOW)).rejects.toThrow('cannot create the project');
    }
    expect(access.projects()).toEqual([]);
  });
});
