import { describe, expect, it } from 'vitest';
import { type SplitKey, splitKey } from '../../../src/engine/keys.js';
import type { NewSplit } from '../../../src/engine/ports/splits.js';
import { toSegments } from '../../../src/engine/segments.js';
import { limits } from '../../../src/limits.js';
import { lmdbSplits } from '../../../src/store/lmdb/splits.js';
import { estimatesOf, expire, FORECAST, LIST, leftovers, NOBODY, splitOf, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const key = splitOf(null);

/** A split whose files tell which of several it is. */
const splitNamed = (name: string, node_total = 3): NewSplit => ({
  people: NOBODY,
  list: { ...LIST, digest: name },
  files: toSegments(Array.from({ length: node_total }, (_, node) => JSON.stringify([{ path: `${name}/${node}` }]))),
  forecast: FORECAST,
});

describe('a split', () => {
  it('of many that are created at once is the first, for everybody', async () => {
    const store = temporaryStore();
    const splits = lmdbSplits(store);
    const created = await Promise.all(Array.from({ length: 16 }, (_, i) => splits.create(key, splitNamed(`split-${i}`), NOW)));
    expect(new Set(created.map(({ id }) => id)).size).toBe(1);
    const found = await splits.find(key);
    expect(found).toEqual(created[0]);
    expect(found).toMatchObject({ node_total: 3, list: { digest: 'split-0' }, created_at: NOW, used_at: NOW, runs_before: 0 });
    const nodes = [0, 1, 2].map(node => JSON.parse(splits.files(found!, node)!.toString()) as unknown);
    expect(nodes).toEqual([[{ path: 'split-0/0' }], [{ path: 'split-0/1' }], [{ path: 'split-0/2' }]]);
    expect(splits.forecast(found!)).toEqual(FORECAST);
  });

  it('is found by nobody before it is on disk: a kill would lose it', async () => {
    const store = temporaryStore();
    const splits = lmdbSplits(store);
    const creating = splits.create(key, splitNamed('created'), NOW);
    const finding = splits.find(key);
    expect(finding).toBeInstanceOf(Promise);
    expect(await finding).toMatchObject({ list: { digest: 'created' } });
    expect(store.creations.size).toBe(0);
    await creating;
  });

  it('that came too late leaves nothing behind', async () => {
    const store = temporaryStore();
    for (const name of ['winner', 'late']) await lmdbSplits(store).create(key, splitNamed(name), NOW);
    expect(store.splits.getCount()).toBe(1);
    expect(store.blobs.getCount()).toBe(3);
    expect(store.expiry.getCount()).toBe(1);
  });

  it('over thousands of nodes is whole, and what came too late goes with its time', async () => {
    const store = temporaryStore();
    const splits = lmdbSplits(store);
    const large = splitOf(null, 1001);
    const [split, late] = await Promise.all(['split-0', 'split-1'].map(name => splits.create(large, splitNamed(name, 1001), NOW)));
    expect(late).toEqual(split);
    for (const node of [0, 249, 250, 999, 1000]) {
      expect(JSON.parse(splits.files(split!, node)!.toString())).toEqual([{ path: `split-0/${node}` }]);
    }
    await expire(store, NOW + 1);
    expect(leftovers(store)).toEqual([]);
  });

  it('that is renewed by who read it before keeps that a node sent another list', async () => {
    const splits = lmdbSplits(temporaryStore());
    const ofRun = splitOf('7');
    const split = await splits.create(ofRun, splitNamed('split'), NOW);
    await splits.noteOtherList(ofRun, split, 'they differ', NOW);
    await splits.noteOtherList(ofRun, split, 'differently', NOW);
    await splits.use(ofRun, split, NOW + limits.lastUseUpdateMilliseconds);
    expect(splits.find(ofRun)).toEqual({ ...split, other_list: 'they differ', used_at: NOW + limits.lastUseUpdateMilliseconds });
  });

  it('that is fixed knows when a CI run first used it, and whether one of its nodes sent another list', async () => {
    const store = temporaryStore();
    const splits = lmdbSplits(store);
    const fixed = (ci_run: string) => splitKey(1, key.build, ci_run, true);
    const split = await splits.create(fixed('1'), splitNamed('split'), NOW);
    await splits.use(fixed('2'), split, NOW + 5);
    expect(splits.use(fixed('2'), split, NOW + 6)).toBeUndefined();
    await splits.noteOtherList(fixed('2'), split, 'they differ', NOW + 7);
    expect(splits.firstUse(split, '1')).toEqual({ at: NOW, runs_before: 0 });
    expect(splits.firstUse(split, '2')).toEqual({ at: NOW + 5, runs_before: 0, other_list: 'they differ' });
    expect(splits.firstUse(split, '3')).toBeNull();
    expect(splits.find(key)).not.toHaveProperty('other_list');
  });

  it('has a key of its own for every project, build and CI run', () => {
    const { build } = key;
    const keys: SplitKey[] = [
      key,
      splitKey(2, build, '', true),
      splitKey(1, { ...build, commit_hash: 'abd' }, '', true),
      splitKey(1, { ...build, branch: 'next' }, '', true),
      splitKey(1, { ...build, node_total: 4 }, '', true),
      splitOf('7'),
      splitOf('8'),
      splitOf('null'),
    ];
    expect(new Set(keys.map(({ digest }) => digest)).size).toBe(keys.length);
    expect(splitKey(1, { ...build }, '9', true).digest).toBe(key.digest);
  });

  it('is not found before it was created', () => {
    expect(lmdbSplits(temporaryStore()).find(key)).toBeNull();
  });

  it('keeps text beyond ASCII and nodes without files', async () => {
    const splits = lmdbSplits(temporaryStore());
    const files = splits.encode(estimatesOf(['spec/größe_спец_測試.rb', 'b"},{"p[1].rb', 'c.rb']), [[2, 0], [], [1]]);
    const split = await splits.create(key, { ...splitNamed('split'), files }, NOW);
    const listed = [0, 1, 2].map(node => JSON.parse(splits.files(split, node)!.toString()) as { path: string }[]);
    expect(listed.map(list => list.map(({ path }) => path))).toEqual([['c.rb', 'spec/größe_спец_測試.rb'], [], ['b"},{"p[1].rb']]);
  });
});
