import { expect, it } from 'vitest';
import { openLmdbStore } from '../../../../src/server/store/lmdb/store.js';
import { problemsIn } from '../../../harness/problems.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { files, NOW, newProject, newQueue, pullAll, record, upTo } from '../contract/fixtures.js';
import { listOf } from '../contract/served.js';
import { queueOf } from './temporary-store.js';

const TIMES = { before: NOW, deletedBefore: NOW + 2 };

it('is consistent whenever the deletion of a project is interrupted, and the next sweeps go on', async () => {
  const dataDir = temporaryFolder();
  let steps = 0;
  for (let stopAfter = 1, isDone = false; !isDone; stopAfter++) {
    const store = openLmdbStore(dataDir);
    if (stopAfter === 1) {
      const project = await newProject(store);
      await Promise.all(upTo(150).map(i => record(store, project, files(2), { commit_hash: `c${i}` })));
      await store.queues.create(queueOf('1'), newQueue(2000, listOf(2000)), NOW);
      await pullAll(store, queueOf('1'), 0);
      await store.access.deleteProject(project, NOW + 1);
    }
    steps = 0;
    for await (const _ of store.maintenance.sweep(TIMES, kind => (isDone ||= kind === 'project'))) {
      steps += 1;
      if (steps === stopAfter) break;
    }
    const { records } = store.maintenance.load();
    await store.close();
    expect(await problemsIn(dataDir)).toEqual([]);
    if (isDone) expect(records).toEqual({ build: 0, subset: 0, path: 0, split: 0, queue: 0, ci_run: 0 });
  }
  expect(steps).toBeGreaterThan(1);
});
