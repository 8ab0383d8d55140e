import { describe, expect, it } from 'vitest';
import { cluster, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { files, newProject, record } from '../contract/fixtures.js';

describe.skipIf(cluster === null)('builds', () => {
  it('are in no list beyond the last one', async () => {
    const store = await openedStore(await emptyDatabase());
    const project = await newProject(store);
    await record(store, project, files(1));
    for (const beyond of [2, 1e9, 1e300]) {
      expect(await store.builds.list(project, {}, { offset: 100 * beyond, limit: 100 })).toEqual([]);
      expect(await store.builds.list(project, {}, { before: beyond, limit: 10 })).toHaveLength(1);
      expect(await store.builds.all(beyond, 10)).toEqual([]);
    }
  });
});
