import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder that only this user may read. Throws the error of the system. */
export function makeTemporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'ballast-'));
}

/** Removes such a folder. One that cannot be removed stays, because what a node ran does not depend on it. */
export function removeTemporaryFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The disk can no longer be written to.
  }
}
