import { describe, expect, it } from 'vitest';
import { createProject, createToken, findToken, projectOfToken, revokeToken, tokenId } from '../../src/engine/access.js';
import { memoryAccess } from '../../src/store/memory/access.js';
import { Tables } from '../../src/store/memory/tables.js';

const NOW = Date.UTC(2026, 0, 1);
const emptyAccess = () => memoryAccess(new Tables());

describe('tokens', () => {
  it('have 64 hex digits, are unique, and open their own project', async () => {
    const access = emptyAccess();
    const tokens = await Promise.all([1, 1, 2].map(project => createToken(access, project, NOW)));
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(await Promise.all(tokens.map(token => projectOfToken(access, token)))).toEqual([1, 1, 2]);
  });

  it('are not kept, only their hashes', async () => {
    const access = emptyAccess();
    const token = await createToken(access, 1, NOW);
    expect(await access.tokens()).toHaveLength(1);
    expect(JSON.stringify(await access.tokens())).not.toContain(token.slice(0, 12));
  });

  it('that do not exist open nothing', async () => {
    const access = emptyAccess();
    const token = await createToken(access, 1, NOW);
    for (const other of ['', 'x', token.toUpperCase(), token.slice(1), `${token}0`]) {
      expect([await projectOfToken(access, other), await findToken(access, other)]).toEqual([null, null]);
    }
  });

  it.each([
    ['value', (token: string) => token],
    ['id', (_token: string, id: string) => id],
  ])('are revoked by their %s, and the other tokens of the project stay in force', async (_, nameOf) => {
    const access = emptyAccess();
    const [revoked, other] = [await createToken(access, 1, NOW), await createToken(access, 1, NOW + 1)];
    const id = tokenId((await findToken(access, revoked))!);
    expect(await revokeToken(access, nameOf(revoked, id), NOW + 2)).toBe(id);
    expect(await findToken(access, revoked)).toMatchObject({ project: 1, revoked_at: NOW + 2 });
    expect([await projectOfToken(access, revoked), await projectOfToken(access, other)]).toEqual([null, 1]);
  });

  it('cannot be revoked twice, or if they do not exist', async () => {
    const access = emptyAccess();
    const token = await createToken(access, 1, NOW);
    await revokeToken(access, token, NOW);
    for (const name of [token, 'unknown'])
      await expect(revokeToken(access, name, NOW)).rejects.toThrow('cannot revoke: no token in force has this value or id');
  });

  it('may be chosen by the operator', async () => {
    const access = emptyAccess();
    const token = 'chosen-by-the-operator-0123456789';
    expect(await createToken(access, 3, NOW, token)).toBe(token);
    expect(await projectOfToken(access, token)).toBe(3);
  });
});

describe('projects', () => {
  it('have a first token', async () => {
    const access = emptyAccess();
    const { id, token } = await createProject(access, 'api/v2 größe', NOW);
    expect(await projectOfToken(access, token)).toBe(id);
  });

  it('cannot be created under a name that is taken', async () => {
    const access = emptyAccess();
    await createProject(access, 'web', NOW);
    await expect(createProject(access, 'web', NOW)).rejects.toThrow('cannot create the project "web": it exists already');
    expect(await access.projects()).toHaveLength(1);
  });

  it.each(['', ' web', '-web', 'a\nb', 'x'.repeat(201)])('cannot be created under the name %j', async name => {
    const access = emptyAccess();
    await expect(createProject(access, name, NOW)).rejects.toThrow('cannot create the project');
    expect(await access.projects()).toEqual([]);
  });
});
