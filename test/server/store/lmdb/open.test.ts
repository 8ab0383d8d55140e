import { describe, expect, it } from 'vitest';
import { version } from '../../../../src/base/version.js';
import { openParts } from '../../../../src/server/store/lmdb/parts.js';
import { STORE_VERSION } from '../../../../src/server/store/lmdb/tables.js';
import { commit } from '../../../../src/server/store/lmdb/writes/commit.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { temporaryStore } from './temporary-store.js';

describe('a store', () => {
  it.each([
    ['9.1.0', 'Ballast 9.1.0', 'serve it with Ballast 9.1.0 or later'],
    [null, 'a newer Ballast', 'serve it with a newer Ballast'],
  ])('of a newer version is refused with advice, and is not changed (%s)', async (program, writer, advice) => {
    const folder = temporaryFolder();
    const store = openParts(folder);
    expect(store.meta.get('version')).toBe(STORE_VERSION);
    store.meta.putSync('version', STORE_VERSION + 1);
    if (program !== null) store.values.putSync('program', program);
    await store.root.close();
    const sentence =
      `cannot open the store in ${folder}: ${writer} wrote it with version ${STORE_VERSION + 1}, and this Ballast ${version} reads version ${STORE_VERSION}: ` +
      `${advice}, or restore the backup from before the upgrade; see the guide "Upgrading"`;
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
