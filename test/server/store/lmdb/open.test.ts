import { describe, expect, it } from 'vitest';
import { openParts } from '../../../../src/server/store/lmdb/parts.js';
import { STORE_VERSION } from '../../../../src/server/store/lmdb/tables.js';
import { commit } from '../../../../src/server/store/lmdb/writes/commit.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { temporaryStore } from './temporary-store.js';

describe('a store', () => {
  it('of a newer version is refused with advice, and is not changed', async () => {
    const folder = temporaryFolder();
    const store = openParts(folder);
    expect(store.meta.get('version')).toBe(STORE_VERSION);
    store.meta.putSync('version', STORE_VERSION + 1);
    await store.root.close();
    const sentence =
      `cannot open the store in ${folder}: it has version ${STORE_VERSION + 1}, ` +
      `and this Ballast reads version ${STORE_VERSION}: run "ballast export" with the Ballast that wrote it, and "ballast import" into an empty folder`;
    expect(() => openParts(folder)).toThrow(sentence);
    expect(() => openParts(folder)).toThrow(sentence);
  });

  it('runs changes one after another, and each sees what earlier ones wrote', async () => {
    const store = temporaryStore();
    const increment = () =>
      commit(store, () => {
        const value = (store.meta.get('nextProject') ?? 0) + 1;
        void store.meta.put('nextProject', value);
        return value;
      });
    expect(await Promise.all(Array.from({ length: 100 }, increment))).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    expect(store.meta.get('nextProject')).toBe(100);
  });

  it('rejects a change that fails, and runs the next one', async () => {
    const store = temporaryStore();
    const failing = commit(store, () => {
      throw new Error('not today');
    });
    await expect(failing).rejects.toThrow('not today');
    await commit(store, () => void store.meta.put('readiness', 1));
    expect(store.meta.get('readiness')).toBe(1);
  });
});
