/** Paths that somebody named, found by what a report calls them. */
export interface KnownFiles {
  /** The path as it was given; null when nothing, or more than one, could be meant. */
  find(reported: string): string | null;
}

/** Why a path cannot be used where the known files were given. */
export const UNKNOWN_FILE = 'it is none of --files-from, or may be several';

/**
 * Finds a path by the whole of it, and else by how one of the two ends: a report may have it absolute, from another folder on,
 * or behind the name of a Go module.
 */
export class ListedFiles implements KnownFiles {
  readonly #byPath = new Map<string, string>();
  readonly #byName = new Map<string, string[][]>();

  /** @param others that are meant only by the whole of them */
  constructor(paths: readonly string[], others: readonly string[] = []) {
    for (const path of paths) this.#add(normalizePath(path), path, true);
    for (const path of others) this.#add(normalizePath(path), path, false);
    // What a report makes of a Python module in a folder with a dot in its name.
    for (const path of paths) {
      const plain = normalizePath(path);
      if (/\..*\.py$/.test(plain)) this.#add(`${plain.slice(0, -3).replaceAll('.', '/')}.py`, path, true);
    }
  }

  #add(plain: string, path: string, hasEnd: boolean): void {
    if (this.#byPath.has(plain)) return;
    this.#byPath.set(plain, path);
    if (!hasEnd) return;
    const segments = plain.split('/');
    const last = segments.at(-1)!;
    const others = this.#byName.get(last);
    if (others) others.push(segments);
    else this.#byName.set(last, [segments]);
  }

  find(reported: string): string | null {
    const plain = normalizePath(reported);
    const whole = this.#byPath.get(plain);
    if (whole !== undefined) return whole;
    const segments = plain.replace(/^(\.\.\/)+/, '').split('/');
    const ending = (this.#byName.get(segments.at(-1)!) ?? []).filter(given => haveSameEnd(given, segments));
    // The longest that the reported path ends with says the most.
    const longest = ending.reduce((most, given) => Math.max(most, Math.min(given.length, segments.length)), 0);
    const best = ending.filter(given => Math.min(given.length, segments.length) === longest);
    return best.length === 1 ? this.#byPath.get(best[0]!.join('/'))! : null;
  }
}

function haveSameEnd(one: readonly string[], other: readonly string[]): boolean {
  const shared = Math.min(one.length, other.length);
  for (let i = 1; i <= shared; i += 1) if (one.at(-i) !== other.at(-i)) return false;
  return true;
}

/** Without what says nothing: `./`, doubled and closing slashes, backslashes. */
export function normalizePath(path: string): string {
  const plain = path
    .replaceAll('\\', '/')
    .replace(/\/{2,}/g, '/')
    .replace(/^(\.\/)+/, '');
  return plain.length > 1 ? plain.replace(/\/$/, '') : plain;
}
