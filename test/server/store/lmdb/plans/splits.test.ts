import { expect, it } from 'vitest';
import type { SplitKey } from '../../../../../src/server/engine/keys.js';
import type { Parts } from '../../../../../src/server/store/lmdb/parts.js';
import { lmdbSplits } from '../../../../../src/server/store/lmdb/plans/splits.js';
import { LIST, NOW, newSplit } from '../../contract/fixtures.js';
import { expire, leftovers, recordsByTable, splitOf, temporaryStore } from '../temporary-store.js';

function create(parts: Parts, key: SplitKey, digest = LIST.digest) {
  const splits = lmdbSplits(parts);
  return splits.create(key, newSplit(key, { ...LIST, digest }), NOW);
}

it('a split cannot be found before it is on disk, because a kill would lose it', async () => {
  const store = temporaryStore();
  const creating = create(store, splitOf(null));
  const finding = lmdbSplits(store).find(splitOf(null));
  expect(finding).toBeInstanceOf(Promise);
  expect(await finding).toMatchObject({ list: LIST });
  expect(store.creations.size).toBe(0);
  await creating;
});

it.each([
  [3, 3],
  [256, 3],
  [1001, 6],
])('a split of %d nodes that loses the race leaves nothing behind', async (nodes, blobs) => {
  const store = temporaryStore();
  const key = splitOf(null, nodes);
  await Promise.all(['winner', 'late'].map(digest => create(store, key, digest)));
  await create(store, key, 'later');
  expect(recordsByTable(store)).toMatchObject({ splits: 1, blobs, expiry: 2 });
  await expire(store, NOW + 1);
  expect(leftovers(store)).toEqual([]);
});

it('a split whose use is already noted needs no write', async () => {
  const store = temporaryStore();
  const [splits, key] = [lmdbSplits(store), splitOf(null)];
  const split = await create(store, key);
  expect(splits.use(key, split, NOW + 1)).toBeUndefined();
});
