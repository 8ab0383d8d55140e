import { describe, expect, it, vi } from 'vitest';
import { lmdbAccess } from '../../../../src/server/store/lmdb/access.js';
import { openParts } from '../../../../src/server/store/lmdb/parts.js';
import { lmdbSplits } from '../../../../src/server/store/lmdb/plans/splits.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { newSplit } from '../contract/fixtures.js';
import { afterKill, expire, nextTurns, splitOf, temporaryStore } from './temporary-store.js';

const NOW = 1_800_000_000_000;

describe('a token that was read before', () => {
  it('is the same object until another opening of the folder revokes it', async () => {
    const folder = temporaryFolder();
    const [server, command] = [temporaryStore(folder), openParts(folder)];
    const access = lmdbAccess(server);
    await access.createProject('web', 'hash-1', NOW);
    const token = access.token('hash-1');
    expect(token).toMatchObject({ project: 1, revoked_at: null });
    expect(access.token('hash-1')).toBe(token);
    expect(access.token('hash-2')).toBeNull();
    await lmdbAccess(command).revokeToken('hash-1', NOW + 1);
    server.root.resetReadTxn();
    expect(access.token('hash-1')).toMatchObject({ revoked_at: NOW + 1 });
    await command.root.close();
  });
});

describe('a split that was read before', () => {
  it('is not read again until the next commit, and then as it is on disk', async () => {
    const parts = afterKill(temporaryStore());
    const splits = lmdbSplits(parts);
    const key = splitOf('1');
    const created = await splits.create(key, newSplit(key), NOW);
    const first = splits.find(key);
    const [get, reads] = [parts.splits.getBinaryFast, vi.fn()];
    vi.spyOn(parts.splits, 'getBinaryFast').mockImplementation((...args) => {
      reads();
      return get.apply(parts.splits, args);
    });
    await nextTurns();
    expect([splits.find(key), reads.mock.calls.length]).toEqual([first, 0]);
    await splits.noteOtherList(key, created, 'they differ', NOW);
    expect(splits.find(key)).toMatchObject({ other_list: 'they differ' });
    await expire(parts, NOW + 1);
    expect(splits.find(key)).toBeNull();
  });
});
