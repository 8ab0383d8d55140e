import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../../../../src/protocol/limits.js';
import { queueKey } from '../../../../../src/server/engine/keys.js';
import { memoryBounds } from '../../../../../src/server/engine/memory-bounds.js';
import type { OpenQueue } from '../../../../../src/server/engine/ports/queues.js';
import type { Queue } from '../../../../../src/server/engine/queue/queue.js';
import { Database } from '../../../../../src/server/store/postgresql/connection/database.js';
import { Pieces } from '../../../../../src/server/store/postgresql/plans/pieces.js';
import { PostgresqlQueues } from '../../../../../src/server/store/postgresql/plans/queues.js';
import { bytesOf } from '../../../../../src/server/store/queue-cache.js';
import { cluster, emptyDatabase, openedStore } from '../../../../harness/postgresql-store.js';
import { BUILD, NOW, newProject, newQueue } from '../../contract/fixtures.js';

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

describe.skipIf(cluster === null)('the states of queues that were wrong', () => {
  it('take a part of the memory for queues, if the queues are not asked for again', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const store = await openedStore(await emptyDatabase());
    const project = await newProject(store);
    const weights = new Float64Array(limits.testFilesPerRequest).fill(1);
    const states: WeakRef<Queue>[] = [];
    let bytes = 0;
    for (let i = 0; i < 24; i++) {
      const key = queueKey(project, BUILD, `${i}`);
      await store.queues.create(key, { ...newQueue(3), weights }, NOW);
      const verb = (open: OpenQueue) => {
        states.push(new WeakRef(open.queue));
        bytes = bytesOf(open);
        throw new Error('a verb failed');
      };
      await expect(Promise.resolve(store.queues.update(key, () => null, verb, NOW))).rejects.toThrow('a verb failed');
    }
    await nextTurn();
    collectGarbage();
    const kept = states.filter(state => state.deref() !== undefined).length;
    expect(kept).toBeGreaterThan(0);
    expect(kept * bytes).toBeLessThanOrEqual(memoryBounds.queues / 4);
  });
});
