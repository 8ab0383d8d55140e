import { describe, expect, it } from 'vitest';
import { toSegments } from '../../../src/engine/segments.js';
import { limits } from '../../../src/limits.js';
import { noteListOfSplit } from '../../../src/store/lmdb/other-lists.js';
import type { SplitRecord } from '../../../src/store/lmdb/records.js';
import { answerOfSplit, findSplit, findSplitOnDisk, installSplit, splitKey, useSplit } from '../../../src/store/lmdb/splits.js';
import { BUILD, expire, FORECAST, LIST, leftovers, NOBODY, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const triple = { commit_hash: 'abc', branch: 'main', node_total: 3 };

const record = (id: string, node_total = 3): SplitRecord => ({
  v: 1,
  id,
  node_total,
  people: NOBODY,
  list: LIST,
  created_at: NOW,
  runs_before: 0,
  used_at: NOW,
});
const planOf = (id: string, node_total = 3) => ({
  id,
  people: NOBODY,
  list: LIST,
  answers: toSegments(Array.from({ length: node_total }, (_, node) => JSON.stringify([{ path: `${id}/${node}` }]))),
  forecast: FORECAST,
});

describe('a split', () => {
  it('of many that are made at once is the first, for everybody', async () => {
    const store = temporaryStore();
    const key = splitKey(1, triple, null);
    const ids = Array.from({ length: 16 }, (_, i) => `split-${i}`);
    const installed = await Promise.all(ids.map(id => installSplit(store, key, BUILD, record(id), planOf(id))));
    expect(new Set(installed.map(({ id }) => id))).toEqual(new Set(['split-0']));
    const found = findSplit(store, key)!;
    expect(found).toEqual(record('split-0'));
    const nodes = [0, 1, 2].map(node => JSON.parse(answerOfSplit(store, found, node)!.toString()) as unknown);
    expect(nodes).toEqual([[{ path: 'split-0/0' }], [{ path: 'split-0/1' }], [{ path: 'split-0/2' }]]);
  });

  it('is told to nobody before it is on disk: a kill would lose it', async () => {
    const store = temporaryStore();
    const key = splitKey(1, triple, null);
    const making = installSplit(store, key, BUILD, record('made'), planOf('made'));
    expect(await findSplitOnDisk(store, key)).toEqual(record('made'));
    expect(store.installing.size).toBe(0);
    await making;
  });

  it('that came too late leaves nothing behind', async () => {
    const store = temporaryStore();
    const key = splitKey(1, triple, null);
    for (const id of ['winner', 'late']) await installSplit(store, key, BUILD, record(id), planOf(id));
    expect(store.splits.getCount()).toBe(1);
    expect(store.blobs.getCount()).toBe(3);
    expect(store.expiry.getCount()).toBe(1);
  });

  it('over thousands of nodes is whole, and what came too late goes with its time', async () => {
    const store = temporaryStore();
    const key = splitKey(1, { ...triple, node_total: 1001 }, null);
    const ids = ['split-0', 'split-1'];
    const made = await Promise.all(ids.map(id => installSplit(store, key, BUILD, record(id, 1001), planOf(id, 1001))));
    expect(made[0]).toEqual(made[1]);
    const split = findSplit(store, key)!;
    for (const node of [0, 249, 250, 999, 1000]) {
      expect(JSON.parse(answerOfSplit(store, split, node)!.toString())).toEqual([{ path: `${split.id}/${node}` }]);
    }
    await expire(store, NOW + 1);
    expect(leftovers(store)).toEqual([]);
  });

  it('that is renewed by who read it before keeps that a node sent another list', async () => {
    const store = temporaryStore();
    const key = splitKey(1, triple, '7');
    const split = await installSplit(store, key, BUILD, record('split'), planOf('split'));
    await noteListOfSplit(store, key, () => BUILD, split, null, { digest: 'other', test_files: 2, difference: 'they differ' }, NOW);
    await useSplit(store, key, () => BUILD, split, null, NOW + limits.lastUseUpdateMilliseconds);
    expect(findSplit(store, key)).toEqual({ ...split, other_list: 'they differ', used_at: NOW + limits.lastUseUpdateMilliseconds });
  });

  it('has a key of its own for every project, triple and dynamic CI build', () => {
    const keys = [
      splitKey(1, triple, null),
      splitKey(2, triple, null),
      splitKey(1, { ...triple, commit_hash: 'abd' }, null),
      splitKey(1, { ...triple, branch: 'next' }, null),
      splitKey(1, { ...triple, node_total: 4 }, null),
      splitKey(1, triple, '7'),
      splitKey(1, triple, '8'),
      splitKey(1, triple, 'null'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(splitKey(1, { ...triple }, '7')).toBe(keys[5]);
  });

  it('is not found before it was made', () => {
    expect(findSplit(temporaryStore(), splitKey(1, triple, null))).toBeNull();
  });

  it('keeps text beyond ASCII and nodes without files', async () => {
    const store = temporaryStore();
    const texts = ['[{"path":"spec/größe_спец_測試.rb"}]', '[]', '[]'];
    const split = await installSplit(store, 'key', BUILD, record('split'), {
      id: 'split',
      people: NOBODY,
      list: LIST,
      answers: toSegments(texts),
      forecast: FORECAST,
    });
    expect(texts.map((_, node) => answerOfSplit(store, split, node)!.toString())).toEqual(texts);
  });
});
