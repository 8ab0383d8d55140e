import { describe, expect, it } from 'vitest';
import { NOW } from './fixtures.js';
import { stores } from './stores.js';

describe.each(stores)('access in a store in $name', ({ open }) => {
  it('numbers projects in the order of their creation, and finds them by their exact name', async () => {
    const { access } = open();
    const web = await access.createProject('web', 'hash-1', NOW);
    const api = await access.createProject('api/v2 größe', 'hash-2', NOW);
    expect(web).toEqual({ id: web!.id, name: 'web', created_at: NOW, default_branch: null, is_default_branch_set: false });
    expect(api!.id).toBeGreaterThan(web!.id);
    expect(await access.projects()).toEqual([web, api]);
    expect([await access.project('api/v2 größe'), await access.project('Web')]).toEqual([api, null]);
    expect([await access.projectById(api!.id), await access.projectById(0), await access.projectById(99)]).toEqual([api, null, null]);
  });

  it('creates only one of many concurrent projects of the same name, with its own token', async () => {
    const { access } = open();
    const hashes = Array.from({ length: 8 }, (_, i) => `hash-${i}`);
    const created = await Promise.all(hashes.map(hash => access.createProject('web', hash, NOW)));
    expect(created.filter(project => project !== null)).toEqual(await access.projects());
    const hash = hashes[created.findIndex(project => project !== null)]!;
    const project = created.find(found => found !== null)!.id;
    expect(await access.tokens()).toEqual([{ project, hash, created_at: NOW, revoked_at: null }]);
    expect(await access.createProject('web', 'late', NOW)).toBeNull();
    expect(await access.token('late')).toBeNull();
  });

  it('lists tokens oldest first, revoked ones included', async () => {
    const { access } = open();
    const { id: project } = (await access.createProject('web', 'c', NOW))!;
    await access.createToken(project, 'a', NOW + 2);
    await access.createToken(project, 'b', NOW + 1);
    await access.revokeToken('b', NOW + 3);
    const token = { project, revoked_at: null };
    expect(await access.tokens()).toEqual([
      { ...token, hash: 'c', created_at: NOW },
      { ...token, hash: 'b', created_at: NOW + 1, revoked_at: NOW + 3 },
      { ...token, hash: 'a', created_at: NOW + 2 },
    ]);
  });

  it('revokes a token once, and leaves others in force', async () => {
    const { access } = open();
    const { id: project } = (await access.createProject('web', 'a', NOW))!;
    await access.createToken(project, 'b', NOW);
    for (const at of [NOW + 1, NOW + 2]) await access.revokeToken('a', at);
    await access.revokeToken('unknown', NOW);
    expect(await access.token('a')).toMatchObject({ revoked_at: NOW + 1 });
    expect(await access.token('b')).toMatchObject({ project, hash: 'b', created_at: NOW, revoked_at: null });
    expect(await access.token('unknown')).toBeNull();
  });
});
