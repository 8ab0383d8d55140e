import { spawnSync } from 'node:child_process';

/** Facts that Git has about a folder; null: none. */
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

/** Returns the hashes of the commits that the one which is checked out follows or merges; empty: Git knows none. */
export function gitParents(folder: string): string[] {
  return revParse(folder, ['HEAD^@'])?.split('\n') ?? [];
}

/** Returns why Git cannot read a folder, as Git says it; null: it can. */
export function gitError(folder: string): string | null {
  const { error, status, stderr } = spawnSync('git', ['rev-parse', '--git-dir'], { cwd: folder, encoding: 'utf8', timeout: 10_000 });
  if (error) return error.message;
  return status === 0 ? null : (stderr.trim().split('\n')[0] ?? '');
}

/** Returns the paths that Git ignores, as it does what builds write; null: the folder is no checkout. */
export function ignoredByGit(folder: string, paths: readonly string[]): string[] | null {
  const { status, stdout } = spawnSync('git', ['check-ignore', '-z', '--stdin'], {
    cwd: folder,
    encoding: 'utf8',
    input: paths.map(path => `${path}\0`).join(''),
    stdio: ['pipe', 'pipe', 'ignore'],
    maxBuffer: 2 ** 28,
    timeout: 10_000,
  });
  // 1: it ignores none.
  return status === 0 || status === 1 ? stdout.split('\0').filter(Boolean) : null;
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
