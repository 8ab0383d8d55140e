import { describe, expect, it } from 'vitest';
import { lmdbAccess } from '../../../src/store/lmdb/access.js';
import { openParts } from '../../../src/store/lmdb/parts.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { temporaryStore } from './temporary-store.js';

const NOW = 1_800_000_000_000;

describe('a token that was read before', () => {
  it('is the same object until it changes', async () => {
    const access = lmdbAccess(temporaryStore());
    await access.createProject('web', 'hash-1', NOW);
    const token = access.token('hash-1');
    expect(token).toMatchObject({ project: 1, revoked_at: null });
    expect(access.token('hash-1')).toBe(token);
    expect(access.token('hash-2')).toBeNull();
  });

  it('is revoked with the next request when another opening of the folder revokes it', async () => {
    const folder = temporaryFolder();
    const server = temporaryStore(folder);
    const command = openParts(folder);
    const access = lmdbAccess(server);
    await access.createProject('web', 'hash-1', NOW);
    expect(access.token('hash-1')).toMatchObject({ revoked_at: null });
    await lmdbAccess(command).revokeToken('hash-1', NOW + 1);
    server.root.resetReadTxn();
    expect(access.token('hash-1')).toMatchObject({ revoked_at: NOW + 1 });
    await command.root.close();
  });
});
