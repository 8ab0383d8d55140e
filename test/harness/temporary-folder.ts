import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a folder that is removed after the test, or when `end` runs its callback. */
export function temporaryFolder(end: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'ballast-test-'));
  // A killed process may still be writing.
  end(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
