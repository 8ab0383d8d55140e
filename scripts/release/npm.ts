import { execFileSync } from 'node:child_process';

/** Runs npm in a folder, and returns what it prints. Throws what it says if it fails. */
export function npm(folder: string, ...args: string[]): string {
  return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 * 2 ** 20 });
}
