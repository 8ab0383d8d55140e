import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';

/** A set of paths, found by the names that reports use for them. */
export interface KnownFiles {
  /** Returns the path as it was given; null: the name matches no path, or several. */
  find(reported: string): string | null;
}

/** The reason for leaving out a name that `find` does not resolve. */
export const UNKNOWN_FILE = 'it matches no file of --files-from, or several';

/**
 * Finds a path by its full name, or else by a common ending: a report may name a file by an absolute path, relative to another folder, or
 * behind the name of a Go module.
 */
export class ListedFiles implements KnownFiles {
  readonly #byPath = new Map<string, string>();
  readonly #byName = new Map<string, string[][]>();

  /** @param others paths that are found by their full name only */
  constructor(paths: readonly string[], others: readonly string[] = []) {
    for (const path of paths) this.#add(normalizePath(path), path, true);
    for (const path of others) this.#add(normalizePath(path), path, false);
    // Reports separate the folders of a Python module by dots, so a dot in the name of a folder looks like a separator.
    for (const path of paths) {
      const plain = normalizePath(path);
      if (/\..*\.py$/.test(plain)) this.#add(`${plain.slice(0, -3).replaceAll('.', '/')}.py`, path, true);
    }
  }

  #add(plain: string, path: string, matchesEnding: boolean): void {
    if (this.#byPath.has(plain)) return;
    this.#byPath.set(plain, path);
    if (!matchesEnding) return;
    const segments = plain.split('/');
    const last = segments.at(-1)!;
    const others = this.#byName.get(last);
    if (others) others.push(segments);
    else this.#byName.set(last, [segments]);
  }

  find(reported: string): string | null {
    const plain = normalizePath(reported);
    const exact = this.#byPath.get(plain);
    if (exact !== undefined) return exact;
    const segments = plain.replace(/^(\.\.\/)+/, '').split('/');
    const candidates = (this.#byName.get(segments.at(-1)!) ?? []).filter(candidate => haveSameEnd(candidate, segments));
    // The longest common ending is the best match.
    const commonLength = (candidate: readonly string[]) => Math.min(candidate.length, segments.length);
    const longest = candidates.reduce((max, candidate) => Math.max(max, commonLength(candidate)), 0);
    const best = candidates.filter(candidate => commonLength(candidate) === longest);
    return best.length === 1 ? this.#byPath.get(best[0]!.join('/'))! : null;
  }
}

function haveSameEnd(one: readonly string[], other: readonly string[]): boolean {
  const shared = Math.min(one.length, other.length);
  for (let i = 1; i <= shared; i += 1) if (one.at(-i) !== other.at(-i)) return false;
  return true;
}

/** The files in a folder, by their relative paths. */
export class DiskFiles implements KnownFiles {
  readonly #cache = new Map<string, string | null>();

  constructor(readonly folder: string) {}

  find(reported: string): string | null {
    let path = this.#cache.get(reported);
    if (path === undefined) this.#cache.set(reported, (path = this.#lookUp(normalizePath(reported))));
    return path;
  }

  #lookUp(path: string): string | null {
    const relativePath = normalizePath(relative(this.folder, resolve(this.folder, path)));
    if (relativePath === '' || relativePath.startsWith('../') || relativePath.includes('\0')) return null;
    return statSync(resolve(this.folder, relativePath), { throwIfNoEntry: false })?.isFile() ? relativePath : null;
  }
}

/** Replaces backslashes, and removes a leading `./` and doubled or trailing slashes. */
export function normalizePath(path: string): string {
  const plain = path
    .replaceAll('\\', '/')
    .replace(/\/{2,}/g, '/')
    .replace(/^(\.\/)+/, '');
  return plain.length > 1 ? plain.replace(/\/$/, '') : plain;
}
