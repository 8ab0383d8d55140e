import { expect, it } from 'vitest';
import { memoryBounds } from '../../../src/memory-bounds.js';
import { PairCache } from '../../../src/store/lmdb/pair-cache.js';
import { temporaryStore } from './temporary-store.js';

it('a cache of pairs has what was added since it was full', () => {
  const cache = new PairCache<number, string>(10, ({ length }) => length);
  cache.add('a', 1, 'four');
  cache.add('a', 2, 'five5');
  cache.add('b', 1, 'x');
  expect([cache.get('a', 1), cache.get('a', 2), cache.get('b', 1), cache.get('b', 2), cache.get('c', 1)]).toEqual([
    'four',
    'five5',
    'x',
    undefined,
    undefined,
  ]);
  cache.add('b', 2, 'y');
  expect([cache.get('a', 1), cache.get('b', 1), cache.get('b', 2)]).toEqual([undefined, undefined, 'y']);
});

it('the cache of files is bounded when many nodes have none', () => {
  const { blobsRead } = temporaryStore();
  const nodes = Math.ceil(memoryBounds.fileBlobs / 200);
  const none = Buffer.from('[]');
  for (let node = 0; node < nodes; node++) blobsRead.add('split', node, none);
  expect([blobsRead.get('split', 0), blobsRead.get('split', nodes - 1)]).toEqual([undefined, none]);
});
