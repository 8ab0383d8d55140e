import { limits } from '../../limits.js';
import type { Parts } from './parts.js';
import type { ExpiryKey, Tables } from './tables.js';

/**
 * Splits and queues with the same plan have the same files, so these are stored once: as the blobs of the first of them. They are deleted
 * with the last.
 */

/** Where the files of a split or queue are. */
export interface StoredFiles {
  /** The split or queue that has the blobs: itself, or another. */
  owner: string;
  /** The difference between the keys of two blobs of files: how many nodes of a split, or times 64 files of a queue, are in each. */
  keyStep: number;
}

export function storedFilesOf({ blobs, filesOf, storedFiles }: Pick<Parts, 'blobs' | 'filesOf' | 'storedFiles'>, id: string): StoredFiles {
  const known = storedFiles.get(id);
  if (known !== undefined) return known;
  const owner = filesOf.get(id) ?? id;
  const [first, second] = blobs.getKeys({ start: [owner, 0], end: [owner, Infinity], limit: 2 });
  // Without the first, they are being deleted.
  const stored = { owner, keyStep: first?.[1] === 0 && second ? (second[1] as number) : 1 };
  if (storedFiles.size >= limits.cachedStoredFiles) storedFiles.clear();
  storedFiles.set(id, stored);
  return stored;
}

/** Whether the files of an owner exist and are not being deleted. Reads within a write transaction. */
export function canShareFiles({ blobs, expiry }: Pick<Tables, 'blobs' | 'expiry'>, owner: string): boolean {
  return blobs.doesExist([owner, 0]) && !expiry.doesExist(released(owner));
}

/** Gives a new split or queue the files of another one, within a write transaction. */
export function shareFiles(tables: Pick<Tables, 'filesOf' | 'fileUsers'>, owner: string, id: string): void {
  const { filesOf, fileUsers } = tables;
  // Without users, the owner has its files to itself. With users, it is one of them, or has expired.
  if (!hasUsers(tables, owner)) void fileUsers.put([owner, owner], true);
  void filesOf.put(id, owner);
  void fileUsers.put([owner, id], true);
}

/** Notes that a split or queue no longer needs its files, within a write transaction. The files of the last one expire at once. */
export function releaseFiles(tables: Pick<Tables, 'filesOf' | 'fileUsers' | 'expiry'>, id: string): void {
  const { filesOf, fileUsers, expiry } = tables;
  const owner = filesOf.get(id) ?? id;
  void filesOf.remove(id);
  void fileUsers.remove([owner, id]);
  if (!hasUsers(tables, owner)) void expiry.put(released(owner), true);
}

const released = (owner: string): ExpiryKey => [0, 'files', owner];

function hasUsers({ fileUsers }: Pick<Tables, 'fileUsers'>, owner: string): boolean {
  return fileUsers.getKeysCount({ start: [owner, ''], end: [owner, '\u{10FFFF}'], limit: 1 }) > 0;
}
