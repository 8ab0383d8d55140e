import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a run must not leave behind, however it ends: its processes and folders. */

const children = new Set<ChildProcess>();
const folders = new Set<string>();

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) remove(folder);
});

/** A signal ends the run as it ends by itself: with everything cleaned up. For a program, not for tests. */
export function exitOnSignals(): void {
  for (const [signal, code] of [['SIGHUP', 129], ['SIGINT', 130], ['SIGTERM', 143]] as const) {
    process.once(signal, () => process.exit(code));
  }
}

/** The child does not outlive this process. */
export function killAtExit<C extends ChildProcess>(child: C): C {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Sends SIGTERM; resolves when the process has exited. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** A folder that does not outlive this process. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ballast-bench-'));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  folders.delete(folder);
  remove(folder);
}

function remove(folder: string): void {
  // A process that was just killed may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
