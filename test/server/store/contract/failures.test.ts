import { describe, expect, it } from 'vitest';
import type { Build } from '../../../../src/server/engine/ports/builds.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { encodeFailures, FAILURE_BYTES } from '../../../../src/server/store/codecs/failures.js';
import { buildFailures, buildsOf, DAY, files, NOW, newProject, record, sweep } from './fixtures.js';
import { stores } from './stores.js';

/** Records builds of the commits c0, c1, ... Returns them in this order. */
async function recordBuilds(store: Store, project: number, count: number): Promise<Build[]> {
  for (let i = 0; i < count; i++) await record(store, project, files(1), { commit_hash: `c${i}`, at: NOW + i });
  return (await buildsOf(store, project)).reverse();
}

describe.each(stores)('what failed in builds, in a store in $name', ({ open }) => {
  it('is returned as it was put, the last created build first, for each project', async () => {
    const store = await open();
    const [project, other] = [await newProject(store), await newProject(store, 'other')];
    const [first, , third] = await recordBuilds(store, project, 3);
    const [elsewhere] = await recordBuilds(store, other, 1);
    const bare = buildFailures({ at: NOW + 0.5, outages: [], files: [] });
    await store.failures.put(third!, bare);
    await store.failures.put(first!, buildFailures());
    await store.failures.put(elsewhere!, buildFailures());
    expect(await store.failures.newest(project, 10)).toEqual([
      { build: third, failures: bare },
      { build: first, failures: buildFailures() },
    ]);
    expect(await store.failures.newest(project, 1)).toMatchObject([{ build: third }]);
    expect(await store.failures.of(first!)).toEqual(buildFailures());
    expect(await store.failures.newest(other, 10)).toMatchObject([{ build: elsewhere }]);
    expect(await store.failures.newest(99, 10)).toEqual([]);
  });

  it('is replaced, and removed', async () => {
    const store = await open();
    const project = await newProject(store);
    const [build] = await recordBuilds(store, project, 1);
    await store.failures.put(build!, null);
    await store.failures.put(build!, buildFailures());
    await store.failures.put(build!, buildFailures({ files: [] }));
    expect(await store.failures.newest(project, 10)).toEqual([{ build, failures: buildFailures({ files: [] }) }]);
    await store.failures.put(build!, null);
    expect([await store.failures.newest(project, 10), await store.failures.of(build!)]).toEqual([[], null]);
  });

  it('expires with the build, and is not written after that', async () => {
    const store = await open();
    const project = await newProject(store);
    const [first, second] = await recordBuilds(store, project, 2);
    for (const build of [first!, second!]) await store.failures.put(build, buildFailures());
    await sweep(store, NOW + 1);
    expect(await store.failures.newest(project, 10)).toMatchObject([{ build: second }]);
    await store.failures.put(first!, buildFailures());
    await record(store, project, files(1), { commit_hash: 'c0', at: NOW + DAY });
    expect(await store.failures.newest(project, 10)).toMatchObject([{ build: second }]);
  });
});

it('takes 20 bytes for each file, besides the names of test cases', () => {
  const { files: some } = buildFailures();
  const bytesOf = (count: number) => encodeFailures(buildFailures({ files: Array(count).fill(some[1]) })).length;
  expect([FAILURE_BYTES, bytesOf(1000) - bytesOf(0)]).toEqual([20, 20_000]);
});
