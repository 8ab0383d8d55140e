import { describe, expect, it } from 'vitest';
import { queueKey } from '../../../src/server/engine/keys.js';
import { pathsByNode, pathsOfQueue } from '../../../src/server/engine/planned-files.js';
import type { Split } from '../../../src/server/engine/ports/splits.js';
import { memoryStore } from '../../harness/memory-store.js';
import { BUILD, NOW, newProject, newQueue, planned } from '../store/contract/fixtures.js';

describe('the paths of a plan', () => {
  it('of a queue are those of all files or of some', async () => {
    const store = memoryStore();
    const key = queueKey(await newProject(store), BUILD, '1');
    await store.queues.create(key, newQueue(5), NOW);
    const { id } = store.queues.find(key)!;
    const all = planned(5, [0, 1, 2, 3, 4]).map(({ path }) => path);
    expect(await pathsOfQueue(store, id)).toEqual(all);
    expect(await pathsOfQueue(store, id, [3, 1])).toEqual([all[3], all[1]]);
    expect(await pathsOfQueue(store, id, [])).toEqual([]);
  });

  it('that expired are refused: nobody takes it for a plan without files', async () => {
    const store = memoryStore();
    const expired = { reason: 'expired' };
    await expect(pathsOfQueue(store, 'gone')).rejects.toMatchObject(expired);
    await expect(pathsOfQueue(store, 'gone', [0])).rejects.toMatchObject(expired);
    await expect(pathsByNode(store, { id: 'gone', node_total: 2 } as Split).next()).rejects.toMatchObject(expired);
  });
});
