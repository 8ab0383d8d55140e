import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../../src/store/postgresql/database.js';
import { Pieces } from '../../../src/store/postgresql/pieces.js';
import { PostgresqlQueues } from '../../../src/store/postgresql/queues.js';
import { cluster, emptyDatabase, openedStore } from '../../harness/postgresql-store.js';
import { newProject } from '../contract/fixtures.js';

describe.skipIf(cluster === null)('what a project learned', () => {
  it('waits for no change of another project', async () => {
    const url = await emptyDatabase();
    const store = await openedStore(url);
    const projects = [await newProject(store), await newProject(store, 'other')] as const;
    const database = new Database({ url, connections: 2 });
    onTestFinished(() => database.close());
    const queues = new PostgresqlQueues(database, new Pieces(database), { pullCost: 0, lease: null, cacheBytes: 1e6 });
    let release = () => {};
    const held = new Promise<void>(resolve => (release = resolve));
    const change = database.change.bind(database);
    vi.spyOn(database, 'change').mockImplementationOnce(async (...asked) => {
      await held;
      return (await change(...asked)) as never;
    });
    queues.learn(projects[0], 'queue', new Array<number>(10).fill(1));
    expect(await queues.learned(projects[1], 'queue')).toBeNull();
    release();
    expect(await queues.learned(projects[0], 'queue')).not.toBeNull();
    await queues.close();
  });
});
