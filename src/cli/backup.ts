import { chmodSync, linkSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasStore, STORE_FILE } from '../store/lmdb/tables.js';
import { print } from '../terminal.js';
import { copyStore } from './data-folder/copy-store.js';
import { withExistingStore } from './data-folder/data-folder.js';
import { endOfSnapshot } from './data-folder/end-of-snapshot.js';
import { flush } from './data-folder/flush.js';
import { makePart, type Part } from './data-folder/part.js';
import { startProgress } from './process/progress.js';

export interface BackupOptions {
  json?: true;
}

const SHOWN_MILLISECONDS = 250;

/**
 * Copies the state of the store at one moment into a folder, also while a server writes. The folder can be served as it is.
 * Leaves nothing there when it fails or `stop` ends it.
 */
export function backup(dataDir: string, target: string, { json }: BackupOptions, stop: AbortSignal): Promise<void> {
  return withExistingStore(dataDir, async ({ parts }) => {
    if (hasStore(target))
      throw new Error(`cannot back up to ${target}: there is a store in it already; name another folder, or remove that one`);
    const file = join(target, STORE_FILE);
    const before = performance.now();
    let part: Part | null = null;
    try {
      mkdirSync(target, { recursive: true, mode: 0o700 });
      // In a folder of its own, as another backup may run at the same time.
      part = makePart(join(target, '.part-'), STORE_FILE);
      const done = showSize(part.path);
      await copyStore(dataDir, part.path, AbortSignal.any([stop, endOfSnapshot()])).finally(done);
      chmodSync(part.path, 0o600);
      flush(part.path);
      // Fails if another backup has created one meanwhile.
      linkSync(part.path, file);
      for (const folder of [target, dirname(target)]) flush(folder);
    } catch (error) {
      throw new Error(`cannot back up ${dataDir} to ${target}: ${(error as Error).message}`, { cause: error });
    } finally {
      // A process that was killed while it copied leaves its read lock.
      parts.root.readerCheck();
      part?.remove();
    }
    const { size: bytes } = statSync(file);
    const seconds = Number(((performance.now() - before) / 1000).toFixed(1));
    if (json) return print(JSON.stringify({ file, bytes, seconds }));
    print(`${file}: ${bytes} bytes in ${seconds} s`);
    print('to restore it, serve that folder, or a copy of it (--data-dir)');
  });
}

/** Shows the size of a file that grows, until the returned function is called. */
function showSize(file: string): () => void {
  const progress = startProgress();
  const timer = setInterval(() => {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    progress.tell(() => `${(bytes / 2 ** 20).toFixed(1)} MiB copied`);
  }, SHOWN_MILLISECONDS);
  return () => {
    clearInterval(timer);
    progress.end();
  };
}
