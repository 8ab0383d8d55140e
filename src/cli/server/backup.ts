import { chmodSync, linkSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fsyncPath } from '../../base/fsync.js';
import type { PartialFile } from '../../base/partial-file.js';
import { print, printToStderr, startProgress } from '../../base/terminal.js';
import { createPartialCopy } from '../../server/store/lmdb/folder/copy-folder.js';
import { hasStore, STORE_FILE } from '../../server/store/lmdb/tables.js';
import type { StoreSource } from '../../server/store/source.js';
import { copyStore, snapshotDeadline } from './data-folder/copy-store.js';
import { folderOf, withExistingFolder } from './data-folder/data-folder.js';

export interface BackupOptions {
  json?: true;
}

const REFRESH_MILLISECONDS = 250;

/**
 * Copies a snapshot of the store into a folder, which can be served as it is. A server may write meanwhile. If the copy fails or `stop` ends
 * it, nothing is left in the folder.
 */
export function backup(source: StoreSource, target: string, { json }: BackupOptions, stop: AbortSignal): Promise<void> {
  const dataDir = folderOf(source, 'back up', 'use pg_dump, or a base backup and the WAL for any point in time');
  return withExistingFolder(dataDir, async ({ parts, values }) => {
    if (hasStore(target))
      throw new Error(`cannot back up to ${target}: it already contains a store; name another folder, or remove the store`);
    const file = join(target, STORE_FILE);
    const before = performance.now();
    let part: PartialFile | null = null;
    try {
      mkdirSync(target, { recursive: true, mode: 0o700 });
      part = await createPartialCopy(target);
      const stopProgress = showSize(part.path);
      await copyStore(dataDir, part.path, AbortSignal.any([stop, snapshotDeadline()])).finally(stopProgress);
      chmodSync(part.path, 0o600);
      fsyncPath(part.path);
      // Fails if a server has created the file meanwhile.
      linkSync(part.path, file);
      for (const folder of [target, dirname(target)]) fsyncPath(folder);
    } catch (error) {
      throw new Error(`cannot back up ${dataDir} to ${target}: ${(error as Error).message}`, { cause: error });
    } finally {
      // A killed copy process leaves its read lock behind.
      parts.root.readerCheck();
      await part?.remove();
    }
    await values
      .put('backup', Date.now())
      .catch(() => printToStderr('the backup is complete, but its time could not be noted in the store'));
    const { size: bytes } = statSync(file);
    const seconds = Number(((performance.now() - before) / 1000).toFixed(1));
    if (json) return print(JSON.stringify({ file, bytes, seconds }));
    print(`${file}: ${bytes} bytes in ${seconds} s`);
    print('to restore it, serve this folder or a copy of it (--data-dir)');
  });
}

/** Shows the size of a growing file, until the returned function is called. */
function showSize(file: string): () => void {
  const progress = startProgress();
  const timer = setInterval(() => {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    progress.show(() => `${(bytes / 2 ** 20).toFixed(1)} MiB copied`);
  }, REFRESH_MILLISECONDS);
  return () => {
    clearInterval(timer);
    progress.end();
  };
}
