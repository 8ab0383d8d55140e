import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes a folder that is removed after the test, or when `end` calls back. */
export function temporaryFolder(end: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'ballast-test-'));
  // A process that was just killed may still write.
  end(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
