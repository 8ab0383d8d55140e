import { describe, expect, it } from 'vitest';
import { cluster, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { files, newProject, record } from '../contract/fixtures.js';

describe.skipIf(cluster === null)('builds', () => {
  it('are on no page and in no list beyond the last one', async () => {
    const store = await openedStore(await emptyDatabase());
    const project = await newProject(store);
    await record(store, project, files(1));
    for (const beyond of [2, 1e9, 1e300]) {
      expect(await store.builds.page(project, {}, beyond)).toEqual({ total: 1, builds: [] });
      expect((await store.builds.older(project, {}, beyond, 10)).builds).toHaveLength(1);
      expect(await store.builds.list(beyond, 10)).toEqual([]);
    }
  });
});
