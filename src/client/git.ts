import { spawnSync } from 'node:child_process';

/** What Git knows about a folder; null: nothing. */
export interface Checkout {
  branch(): string | null;
  commitHash(): string | null;
}

/** Reads the branch and the commit of a folder, when they are needed. */
export function gitCheckout(folder: string): Checkout {
  return {
    branch() {
      const name = revParse(folder, ['--abbrev-ref', 'HEAD']);
      // Git prints HEAD when no branch is checked out.
      return name === 'HEAD' ? null : name;
    },
    commitHash: () => revParse(folder, ['HEAD']),
  };
}

function revParse(folder: string, args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', ['rev-parse', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 10_000,
  });
  return status === 0 ? stdout.trim() || null : null;
}
