import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { testEvent } from '../../../../src/server/engine/webhooks/event.js';
import { DAY, HOUR, NOW, newProject, sweep } from './fixtures.js';
import { stores } from './stores.js';

const eventOf = (key: string) => testEvent(`${key}\0größe`);
const add = ({ deliveries }: Store, project: number, key: string, at = NOW, most = 9) =>
  deliveries.add({ project, key, id: `id of ${key}`, event: eventOf(key), created_at: at }, most);
/** The deliveries that are due, by project and key. */
const due = async ({ deliveries }: Store, at = NOW + HOUR, limit = 9) =>
  (await deliveries.due(at, limit)).map(({ project, key }) => `${project} ${key}`).sort();

describe.each(stores)('deliveries in a store in $name', ({ open, opened }) => {
  it('wait once, also after they were sent, until they are forgotten', async () => {
    const { store, project } = await opened();
    expect(await add(store, project, 'a')).toBe(0);
    expect(await store.deliveries.due(NOW, 9)).toEqual([
      { project, key: 'a', id: 'id of a', event: eventOf('a'), created_at: NOW, attempts: 0 },
    ]);
    await store.deliveries.end({ project, key: 'a' });
    await add(store, project, 'a');
    expect([await due(store), await store.deliveries.known(project, ['a', 'b'])]).toEqual([[], ['a']]);
    await store.deliveries.forget(project, ['a', 'b']);
    expect(await store.deliveries.known(project, ['a', 'b'])).toEqual([]);
    await add(store, project, 'a');
    expect(await due(store)).toEqual([`${project} a`]);
  });

  it('are due oldest first in each project, and one that is sent again holds back the others', async () => {
    const { store, project } = await opened();
    const other = await newProject(store, 'api');
    await add(store, project, 'b', NOW);
    await add(store, project, 'a', NOW + 1);
    await add(store, other, 'c', NOW + 2);
    expect(await due(store, NOW - 1)).toEqual([]);
    expect(await due(store)).toEqual([`${project} b`, `${other} c`]);
    expect(await due(store, NOW + HOUR, 1)).toHaveLength(1);
    const [first] = await store.deliveries.due(NOW, 9);
    expect(await store.deliveries.attempt(first!, NOW + HOUR)).toBe(true);
    expect([await due(store, NOW + HOUR - 1), await due(store)]).toEqual([[`${other} c`], [`${project} b`, `${other} c`]]);
    await store.deliveries.end(first!);
    expect(await due(store)).toEqual([`${project} a`, `${other} c`]);
  });

  it('are attempted by one of those that found them', async () => {
    const { store, project } = await opened();
    await add(store, project, 'a');
    const [found] = await store.deliveries.due(NOW, 9);
    const attempts = await Promise.all([1, 2, 3].map(() => store.deliveries.attempt(found!, NOW + HOUR)));
    expect(attempts.filter(Boolean)).toHaveLength(1);
    expect(await store.deliveries.due(NOW + HOUR, 9)).toEqual([{ ...found, attempts: 1 }]);
    await store.deliveries.end(found!);
    expect(await store.deliveries.attempt({ ...found!, attempts: 1 }, NOW)).toBe(false);
  });

  it('beyond a number are dropped, the oldest first, and are not reported again', async () => {
    const { store, project } = await opened();
    for (const [i, key] of ['a', 'b', 'c'].entries()) expect(await add(store, project, key, NOW + i, 2)).toBe(key === 'c' ? 1 : 0);
    expect(await due(store)).toEqual([`${project} b`]);
    expect(await store.deliveries.known(project, ['a', 'b', 'c'])).toHaveLength(3);
  });

  it('expire, and go with their project', async () => {
    const store = await open();
    const [kept, gone] = [await newProject(store), await newProject(store, 'gone')];
    await add(store, kept, 'old', NOW - 1);
    await add(store, kept, 'old and sent', NOW - 1);
    await store.deliveries.end({ project: kept, key: 'old and sent' });
    await add(store, kept, 'new', NOW);
    await add(store, gone, 'new', NOW);
    await store.access.deleteProject(gone, NOW);
    await add(store, gone, 'later', NOW);
    await sweep(store, NOW, NOW + DAY);
    expect(await store.deliveries.known(kept, ['old', 'old and sent', 'new'])).toEqual(['new']);
    expect(await store.deliveries.known(gone, ['new', 'later'])).toEqual([]);
    expect(await due(store)).toEqual([`${kept} new`]);
  });
});
