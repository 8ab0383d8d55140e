import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a folder that is removed after the test, or when `end` runs its callback. */
export function temporaryFolder(end: (remove: () => void) => void = onTestFinished): string {
  return folderIn(tmpdir(), end);
}

/** The same in memory where the system has room for it there: a write needs no disk. For stores whose files no test looks at. */
export function memoryFolder(end: (remove: () => void) => void = onTestFinished): string {
  return folderIn(MEMORY, end);
}

/** Linux has files in memory here. A container may have 64 MiB of it only. */
const SHARED_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 29;
const MEMORY = hasRoom() ? SHARED_MEMORY : tmpdir();

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

function folderIn(parent: string, end: (remove: () => void) => void): string {
  const folder = mkdtempSync(join(parent, 'ballast-test-'));
  // A killed process may still be writing.
  end(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
