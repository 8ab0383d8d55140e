import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasStore, STORE_FILE } from '../store/open.js';
import { withExistingStore } from './data-folder.js';

export interface BackupOptions {
  json?: true;
}

/** Copies the store as it is at one moment into a folder, also while a server writes. The folder can be served as it is. */
export function backup(dataDir: string, target: string, { json }: BackupOptions): Promise<void> {
  return withExistingStore(dataDir, async store => {
    if (hasStore(target)) throw new Error(`cannot back up to ${target}: there is a store in it already; name another folder, or remove that one`);
    const file = join(target, STORE_FILE);
    const part = `${file}.part`;
    const before = performance.now();
    try {
      mkdirSync(target, { recursive: true, mode: 0o700 });
      rmSync(part, { force: true });
      // Compact: without the pages that are free.
      await store.root.backup(part, true);
      flush(part);
      renameSync(part, file);
      flush(target);
    } catch (error) {
      if (existsSync(part)) rmSync(part);
      throw new Error(`cannot back up ${dataDir} to ${target}: ${(error as Error).message}`, { cause: error });
    }
    const { size: bytes } = statSync(file);
    const seconds = Number(((performance.now() - before) / 1000).toFixed(1));
    if (json) process.stdout.write(`${JSON.stringify({ file, bytes, seconds })}\n`);
    else process.stdout.write(`${file}: ${bytes} bytes in ${seconds} s\nto restore it, serve that folder, or a copy of it (--data-dir)\n`);
  });
}

/** It survives a power cut before the command says so. */
function flush(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
