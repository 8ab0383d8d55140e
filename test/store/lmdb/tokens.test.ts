import { describe, expect, it } from 'vitest';
import { createProject, findProject, listProjects } from '../../../src/store/lmdb/projects.js';
import { createToken, findToken, listTokens, projectOfToken, revokeToken } from '../../../src/store/lmdb/tokens.js';
import { temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);

describe('tokens', () => {
  it('are 64 hex digits, all different, and open their project only', async () => {
    const store = temporaryStore();
    const tokens = await Promise.all([1, 1, 2].map(project => createToken(store, project, NOW)));
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(tokens.map(token => projectOfToken(store, token))).toEqual([1, 1, 2]);
  });

  it('are nowhere in the store', async () => {
    const store = temporaryStore();
    const token = await createToken(store, 1, NOW);
    const records = [...store.tokens.getRange()];
    expect(records.length).toBe(1);
    expect(JSON.stringify(records)).not.toContain(token.slice(0, 12));
    expect(JSON.stringify(listTokens(store))).not.toContain(token.slice(0, 12));
  });

  it('that were never made open nothing', async () => {
    const store = temporaryStore();
    const token = await createToken(store, 1, NOW);
    for (const other of ['', 'x', token.toUpperCase(), token.slice(1), `${token}0`]) {
      expect(projectOfToken(store, other)).toBeNull();
      expect(findToken(store, other)).toBeNull();
    }
  });

  it('open nothing once revoked, while the project’s other tokens still do', async () => {
    const store = temporaryStore();
    const [old, fresh] = [await createToken(store, 1, NOW), await createToken(store, 1, NOW + 1)];
    await revokeToken(store, old, NOW + 2);
    expect(projectOfToken(store, old)).toBeNull();
    expect(findToken(store, old)).toMatchObject({ project: 1, revoked_at: NOW + 2 });
    expect(projectOfToken(store, fresh)).toBe(1);
  });

  it('are revoked by the id that the list shows', async () => {
    const store = temporaryStore();
    const [first, second] = [await createToken(store, 1, NOW), await createToken(store, 1, NOW + 1)];
    await createToken(store, 2, NOW);
    const listed = listTokens(store).filter(({ project }) => project === 1);
    expect(listed.map(({ created_at, revoked_at }) => [created_at, revoked_at])).toEqual([
      [NOW, null],
      [NOW + 1, null],
    ]);
    expect(await revokeToken(store, listed[1]!.id, NOW + 5)).toMatchObject({ id: listed[1]!.id, revoked_at: NOW + 5 });
    expect([first, second].map(token => projectOfToken(store, token))).toEqual([1, null]);
  });

  it('cannot be revoked twice, nor when they are unknown', async () => {
    const store = temporaryStore();
    const token = await createToken(store, 1, NOW);
    await revokeToken(store, token, NOW);
    await expect(revokeToken(store, token, NOW)).rejects.toThrow('cannot revoke: no token in force has this value or id');
    await expect(revokeToken(store, 'unknown', NOW)).rejects.toThrow('cannot revoke');
  });

  it('may be given, as the bootstrap token is', async () => {
    const store = temporaryStore();
    const token = 'chosen-by-the-operator-0123456789';
    expect(await createToken(store, 3, NOW, token)).toBe(token);
    expect(projectOfToken(store, token)).toBe(3);
  });
});

describe('projects', () => {
  it('are numbered from 1 and found by name', async () => {
    const store = temporaryStore();
    const made = [await createProject(store, 'web', NOW), await createProject(store, 'api/v2', NOW)];
    expect(made.map(({ id }) => id)).toEqual([1, 2]);
    expect(findProject(store, 'web')).toMatchObject({ v: 1, id: 1, name: 'web', created_at: NOW });
    expect(findProject(store, 'Web')).toBeNull();
    expect(listProjects(store).map(({ name }) => name)).toEqual(['web', 'api/v2']);
  });

  it('of one name are made once, however many ask at once', async () => {
    const store = temporaryStore();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => createProject(store, 'web', NOW)));
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(String(result.reason)).toContain('it exists already');
    }
    expect(listProjects(store).length).toBe(1);
  });

  it('are refused a name that cannot be one', async () => {
    const store = temporaryStore();
    for (const name of ['', ' web', '-web', 'a\nb', 'x'.repeat(201)]) {
      await expect(createProject(store, name, NOW)).rejects.toThrow('cannot create the project');
    }
    expect(listProjects(store)).toEqual([]);
  });
});
