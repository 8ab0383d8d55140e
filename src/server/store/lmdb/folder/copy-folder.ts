import { dirname, join } from 'node:path';
import { createPartialFile, type PartialFile } from '../../../../base/partial-file.js';
import { openParts } from '../parts.js';
import { openTables, STORE_FILE } from '../tables.js';

/** Time that a copy may read one snapshot of the store. Meanwhile freed pages cannot be reused. */
export const SNAPSHOT_SECONDS = 3600;
/** Free space that a snapshot leaves on the disk of the store. */
export const SNAPSHOT_RESERVE_BYTES = 67_108_864;

/** Folder in which a copy for a folder is made: a folder inside it. */
export const partFolderOf = (folder: string) => join(folder, '.part');

export function createPartialCopy(folder: string): Promise<PartialFile> {
  return createPartialFile(partFolderOf(folder), STORE_FILE);
}

/**
 * Copies the store in a folder and its journal, as they are at one moment, into a new file named as the store, without free pages. A server
 * may write meanwhile. LMDB cannot stop a copy: only killing its process does, so this is for a process of its own.
 */
export async function copyFolder(dataDir: string, target: string): Promise<void> {
  const { root, journal } = openParts(dataDir);
  try {
    // Before the copy: a checkpoint may move changes from the journal to the store meanwhile.
    journal.read();
    root.resetReadTxn();
    // true: compact, without free pages.
    await root.backup(target, true);
    const copy = openTables(dirname(target));
    await journal.complete(copy).finally(() => copy.root.close());
  } finally {
    await root.close();
  }
}
