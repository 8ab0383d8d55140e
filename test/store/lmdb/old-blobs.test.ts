import { expect, it } from 'vitest';
import { openLog } from '../../../src/server/log.js';
import { problemsOf } from '../../../src/store/lmdb/check/check.js';
import { closeParts, openParts } from '../../../src/store/lmdb/parts.js';
import { LmdbQueues } from '../../../src/store/lmdb/queues.js';
import { serveFolder } from '../../../src/store/lmdb/serve-folder.js';
import { lmdbSplits } from '../../../src/store/lmdb/splits.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { NOW, newQueue, newSplit, planned, upTo } from '../contract/fixtures.js';
import { storeNodesApart, storeOldBlocks } from './old-blobs.js';
import { queueOf, splitOf } from './temporary-store.js';

const FILES = 3000;
const NODES = 40;
const [QUEUE, SPLIT] = [queueOf('1'), splitOf('1', NODES)];

/** A folder with a large queue and a large split. @param isOld as store version 11 wrote it */
async function folder(isOld: boolean): Promise<string> {
  const dataDir = temporaryFolder();
  const parts = openParts(dataDir);
  const queues = new LmdbQueues(parts, { cacheBytes: 1e9, pullCost: 0, lease: null });
  const splits = lmdbSplits(parts);
  await queues.create(QUEUE, newQueue({ queues }, FILES), NOW);
  const { id } = await splits.create(SPLIT, newSplit({ splits }, SPLIT), NOW);
  if (isOld) {
    await storeOldBlocks(parts, queues.find(QUEUE)!.id);
    await storeNodesApart(parts, id, NODES);
    await parts.meta.put('version', 11);
  }
  await closeParts(parts);
  return dataDir;
}

it.each([
  ['version 11', true, Math.ceil(FILES / 64) + NODES],
  ['this version', false, 16 + 14],
])('the files of a large queue and a large split of store %s are read, each where it is', async (_, isOld, blobs) => {
  const store = await serveFolder(await folder(isOld), openLog('silent'));
  expect(store.parts.blobs.getKeysCount() - 3).toBe(blobs);
  const { id } = (await store.queues.find(QUEUE))!;
  const filesOf = async (files: number[]) => JSON.parse((await store.queues.files(id, files)).toString()) as unknown;
  const some = [[0], [FILES - 1], [63, 64], upTo(FILES), [2000, 100, 101, 640, 639], [191, 192, 193, 1300]];
  for (const files of some) expect(await filesOf(files)).toEqual(planned(FILES, files));
  const split = (await store.splits.find(SPLIT))!;
  const listed = upTo(NODES).map(node => JSON.parse(store.splits.files(split, node)!.toString()) as unknown);
  expect(listed).toEqual(upTo(NODES).map(node => planned(NODES, [node])));
  // Other tables report the missing project, and the lists are not those of the plans.
  const problems = [...problemsOf(store.parts, () => {})].filter(({ table }) => table === 'splits' || table === 'queues');
  expect(problems.filter(({ what }) => what !== 'has other files than its list')).toEqual([]);
  await store.close();
});
