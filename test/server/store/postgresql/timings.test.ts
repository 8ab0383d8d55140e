import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { Database } from '../../../../src/server/store/postgresql/connection/database.js';
import { postgresqlTimings } from '../../../../src/server/store/postgresql/timings.js';
import { cluster, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { NOW, newProject, record } from '../contract/fixtures.js';

describe.skipIf(cluster === null)('estimates', () => {
  it('of one list that two requests look up at once know all its times', async () => {
    const url = await emptyDatabase();
    const store = await openedStore(url);
    const project = await newProject(store);
    const database = new Database({ url, connections: 2 });
    onTestFinished(() => database.close());
    const timings = postgresqlTimings(database, { learn: () => store.maintenance.publish('timings') });
    const list = suiteOf(['a', 'b']);
    const seconds = async () => [...(await timings.estimates(project, 'main', list, 10)).seconds];
    await record(store, project, { a: 1 });
    expect(await seconds()).toEqual([1, NaN]);
    await record(store, project, { b: 2 }, { node_index: 1, at: NOW + 1 });
    const readBy = database.readBy.bind(database);
    const read = vi.spyOn(database, 'readBy');
    // The second request notes the number of "b" while the first one reads the times of "a".
    read.mockImplementationOnce(async (...asked) => {
      expect(await seconds()).toEqual([1, 2]);
      await readBy(...(asked as Parameters<typeof readBy>));
    });
    expect(await seconds()).toEqual([1, 2]);
  });
});
