import { describe, expect, it } from 'vitest';
import type { Link, Password, Session } from '../../../../src/server/engine/ports/sign-ins.js';
import { DAY, HOUR, NOW } from './fixtures.js';
import { stores } from './stores.js';

/** A hash that differs in its first characters, as those of secrets do. */
const hashOf = (number: number) => String(number).padStart(4, '0').repeat(16);
const link = (number: number, more: Partial<Link> = {}): Link => ({
  hash: hashOf(number),
  project: null,
  created_at: NOW,
  expires_at: NOW + HOUR,
  ...more,
});
const session = (number: number, more: Partial<Session> = {}): Session => ({
  hash: hashOf(number),
  project: null,
  origin: hashOf(1),
  created_at: NOW,
  used_at: NOW,
  ends_at: NOW + 9 * DAY,
  ...more,
});
const password = (hash: string): Password => ({ salt: '00', hash, cost: { N: 2, r: 1, p: 1 }, created_at: NOW });

describe.each(stores)('sign-ins in a store in $name', ({ open }) => {
  it('lists links oldest first, and finds each by its whole hash', async () => {
    const { signIns } = await open();
    const [late, early] = [link(1, { created_at: NOW + 1 }), link(2, { project: 7 })];
    for (const each of [late, early]) await signIns.createLink(each);
    expect(await signIns.links()).toEqual([early, late]);
    expect([await signIns.link(late.hash), await signIns.link(hashOf(3))]).toEqual([late, null]);
  });

  it('keeps the link of readers, and ends their sessions with it', async () => {
    const { signIns } = await open();
    await signIns.createLink(link(1, { project: 7 }));
    await signIns.createLink(link(2, { project: 7 }));
    const [one, two, other] = [session(10, { project: 7 }), session(11, { project: 7 }), session(12, { project: 7, origin: hashOf(2) })];
    for (const each of [one, two, other]) expect(await signIns.createSession(each, 9)).toBe(true);
    await signIns.deleteLink(hashOf(1));
    expect(await signIns.sessions()).toEqual([other]);
    expect(await signIns.link(hashOf(1))).toBeNull();
    await signIns.deleteLink(hashOf(1));
  });

  it('creates a session only from a link or password that is there', async () => {
    const { signIns, values } = await open();
    expect(await signIns.createSession(session(10), 9)).toBe(false);
    await values.put('password', password('one'));
    expect(await signIns.createSession(session(10, { origin: 'other' }), 9)).toBe(false);
    expect(await signIns.createSession(session(10, { origin: 'one' }), 9)).toBe(true);
    expect(await signIns.session(hashOf(10))).toEqual(session(10, { origin: 'one' }));
    expect(await signIns.session(hashOf(11))).toBeNull();
  });

  it('ends the sessions of a password that is replaced or removed, and no others', async () => {
    const { signIns, values } = await open();
    expect(await values.get('password')).toBeNull();
    await signIns.createLink(link(1));
    await signIns.createSession(session(10), 9);
    await values.put('password', password('one'));
    expect(await values.get('password')).toEqual(password('one'));
    await signIns.createSession(session(11, { origin: 'one' }), 9);
    await values.put('password', password('two'));
    expect(await signIns.sessions()).toEqual([session(10)]);
    await signIns.createSession(session(12, { origin: 'two' }), 9);
    await values.put('password', null);
    expect([await values.get('password'), await signIns.sessions()]).toEqual([null, [session(10)]]);
  });

  it('ends, beyond a number of sessions of a project, the one that was not used for longest', async () => {
    const { signIns } = await open();
    for (const project of [7, 8]) await signIns.createLink(link(project, { project }));
    const create = (number: number, project: number) =>
      signIns.createSession(session(number, { project, origin: hashOf(project), created_at: NOW + number, used_at: NOW + number }), 2);
    await create(10, 7);
    await create(11, 7);
    await create(12, 8);
    await signIns.useSession(hashOf(10), NOW + HOUR);
    await create(13, 7);
    expect((await signIns.sessions()).map(({ hash }) => hash)).toEqual([10, 12, 13].map(hashOf));
  });

  it('deletes what has expired, ended or is out of use', async () => {
    const { signIns } = await open();
    await signIns.createLink(link(1, { project: 7, expires_at: NOW + DAY }));
    await signIns.createLink(link(2));
    const kept = session(10, { project: 7, used_at: NOW });
    for (const each of [kept, session(11, { project: 7, used_at: NOW - 1 }), session(12, { project: 7, ends_at: NOW + HOUR })])
      await signIns.createSession(each, 9);
    await signIns.deleteEnded(NOW + HOUR + 1, NOW);
    expect([await signIns.links(), await signIns.sessions()]).toEqual([[link(1, { project: 7, expires_at: NOW + DAY })], [kept]]);
  });
});
