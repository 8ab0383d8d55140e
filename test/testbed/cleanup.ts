import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Child processes and folders that are removed when this process exits. */

const children = new Set<ChildProcess>();
const folders = new Set<string>();

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) remove(folder);
});

/** Makes signals exit this process normally, with cleanup. For programs, not for tests. */
export function exitOnSignals(): void {
  for (const [signal, code] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    // A second signal must not end the process in the middle of its clean-up.
    process.on(signal, () => process.exit(code));
  }
}

/** Kills the child when this process exits. */
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

/** Creates a folder that is removed when this process exits. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ballast-testbed-'));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  folders.delete(folder);
  remove(folder);
}

function remove(folder: string): void {
  // A process that was just killed may still write to it.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
