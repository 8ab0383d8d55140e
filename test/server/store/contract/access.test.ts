import { describe, expect, it } from 'vitest';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import { publicSideOf } from '../../../../src/server/engine/public-side/side.js';
import { DAY, NOW } from './fixtures.js';
import { stores } from './stores.js';

describe.each(stores)('access in a store in $name', ({ open }) => {
  it('numbers projects in the order of their creation, and finds them by their exact name', async () => {
    const { access } = await open();
    const web = await access.createProject('web', 'hash-1', NOW);
    const api = await access.createProject('api/v2 größe', 'hash-2', NOW);
    expect(web).toEqual({
      id: web!.id,
      name: 'web',
      created_at: NOW,
      default_branch: null,
      is_default_branch_set: false,
      settings: noSettings,
    });
    expect(api!.id).toBeGreaterThan(web!.id);
    expect(await access.projects()).toEqual([web, api]);
    expect([await access.project('api/v2 größe'), await access.project('Web')]).toEqual([api, null]);
    expect([await access.project(api!.id), await access.project(0), await access.project(99)]).toEqual([api, null, null]);
  });

  it('creates only one of many concurrent projects of the same name, with its own token', async () => {
    const { access } = await open();
    const hashes = Array.from({ length: 8 }, (_, i) => `hash-${i}`);
    const created = await Promise.all(hashes.map(hash => access.createProject('web', hash, NOW)));
    expect(created.filter(project => project !== null)).toEqual(await access.projects());
    const hash = hashes[created.findIndex(project => project !== null)]!;
    const project = created.find(found => found !== null)!.id;
    expect(await access.tokens()).toEqual([{ project, hash, name: null, created_at: NOW, used_at: null, revoked_at: null }]);
    expect(await access.createProject('web', 'late', NOW)).toBeNull();
    expect(await access.token('late')).toBeNull();
  });

  it('lists tokens oldest first, and revokes one once and leaves others in force', async () => {
    const { access } = await open();
    const { id: project } = (await access.createProject('web', 'c', NOW))!;
    await access.createToken(project, { hash: 'a', name: 'of GitHub' }, NOW + 2);
    await access.createToken(project, { hash: 'b', name: null }, NOW + 1);
    for (const at of [NOW + 3, NOW + 4]) await access.revokeToken('b', at);
    await access.revokeToken('unknown', NOW);
    const token = { project, name: null, used_at: null, revoked_at: null };
    const tokens = [
      { ...token, hash: 'c', created_at: NOW },
      { ...token, hash: 'b', created_at: NOW + 1, revoked_at: NOW + 3 },
      { ...token, hash: 'a', name: 'of GitHub', created_at: NOW + 2 },
    ];
    expect(await access.tokens()).toEqual(tokens);
    expect(await Promise.all(['c', 'b', 'unknown'].map(hash => access.token(hash)))).toMatchObject([tokens[0], tokens[1], null]);
  });

  it('renames a project, unless the name is taken or the project is unknown', async () => {
    const { access } = await open();
    const [web, api] = [(await access.createProject('web', 'a', NOW))!, (await access.createProject('api', 'b', NOW))!];
    await access.setDefaultBranch(web.id, 'trunk');
    expect(await access.renameProject(web.id, 'shop')).toBe(true);
    const renamed = { ...web, name: 'shop', default_branch: 'trunk', is_default_branch_set: true };
    expect([await access.project('shop'), await access.project(web.id), await access.project('web')]).toEqual([renamed, renamed, null]);
    expect([await access.renameProject(web.id, 'api'), await access.renameProject(99, 'new')]).toEqual([false, false]);
    expect(await access.projects()).toEqual([renamed, api]);
    expect((await access.createProject('web', 'c', NOW))!.id).toBeGreaterThan(api.id);
    expect(await access.token('a')).toMatchObject({ project: web.id });
  });

  it('replaces the settings of a project, unless they were changed meanwhile or the project is unknown', async () => {
    const { access } = await open();
    const [web, api] = [(await access.createProject('web', 'a', NOW))!, (await access.createProject('api', 'b', NOW))!];
    const settings = { ...noSettings, target: 600, price: { amount: 0.008, currency: 'EUR' } };
    expect(await access.replaceSettings(web.id, noSettings, settings)).toBe(true);
    expect(await access.replaceSettings(web.id, noSettings, { ...noSettings, target: 60 })).toBe(false);
    expect(await access.replaceSettings(99, noSettings, settings)).toBe(false);
    expect([await access.project(web.id), await access.project('api')]).toEqual([{ ...web, settings }, api]);
    expect(await access.replaceSettings(web.id, settings, noSettings)).toBe(true);
    expect(await access.projects()).toEqual([web, api]);
  });

  it('deletes a project with its tokens, links and sessions at once, and leaves those of others', async () => {
    const { access, signIns } = await open();
    const [web, api] = [(await access.createProject('web', 'a', NOW))!, (await access.createProject('api', 'b', NOW))!];
    const times = { created_at: NOW, expires_at: NOW + DAY };
    for (const [i, project] of [web.id, api.id, null].entries()) {
      await signIns.createLink({ hash: `link ${i}`, project, ...times });
      const session = { hash: `session ${i}`, project, origin: `link ${i}`, created_at: NOW, used_at: NOW, ends_at: NOW + DAY };
      expect(await signIns.createSession(session, 10)).toBe(true);
    }
    await access.deleteProject(web.id, NOW + 1);
    for (const gone of [await access.project('web'), await access.project(web.id), await access.token('a')]) expect(gone).toBeNull();
    expect([await access.projects(), (await access.tokens()).map(({ hash }) => hash)]).toEqual([[api], ['b']]);
    expect((await signIns.links()).map(({ hash }) => hash)).toEqual(['link 1']);
    expect((await signIns.sessions()).map(({ hash }) => hash)).toEqual(['session 1', 'session 2']);
    expect(await access.createToken(web.id, { hash: 'c', name: null }, NOW)).toBe(false);
    expect([await access.token('c'), await access.renameProject(web.id, 'new')]).toEqual([null, false]);
    expect((await access.createProject('web', 'd', NOW))!.id).toBeGreaterThan(api.id);
  });

  it('makes the public side of a project with its first public token, and renames and deletes it with the project', async () => {
    const { access } = await open();
    const [web, api] = [(await access.createProject('web', 'a', NOW))!, (await access.createProject('api', 'b', NOW))!];
    const side = publicSideOf(web.id);
    for (const [i, hash] of ['c', 'd'].entries())
      expect(await access.createPublicToken(web.id, { hash, name: null }, NOW + 1 + i)).toBe(true);
    const made = { ...web, id: side, name: 'web (public)', created_at: NOW + 1 };
    expect(await access.projects()).toEqual([web, api, made]);
    expect([await access.project('web (public)'), await access.token('d')]).toMatchObject([made, { project: side, created_at: NOW + 2 }]);
    expect(await access.renameProject(web.id, 'shop')).toBe(true);
    expect(await access.projects()).toEqual([{ ...web, name: 'shop' }, api, { ...made, name: 'shop (public)' }]);
    expect([await access.project('web (public)'), await access.project('shop (public)')]).toMatchObject([null, { id: side }]);
    await access.deleteProject(web.id, NOW + 3);
    expect([await access.projects(), (await access.tokens()).map(({ hash }) => hash)]).toEqual([[api], ['b']]);
    expect(await access.createPublicToken(web.id, { hash: 'e', name: null }, NOW)).toBe(false);
    expect([await access.token('c'), await access.token('e'), await access.project(side)]).toEqual([null, null, null]);
    const again = (await access.createProject('shop', 'f', NOW))!;
    expect(again.id).toBe(api.id + 1);
  });
});
