import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { limits } from '../../protocol/limits.js';

/** A set of paths, found by the names that reports use for them. */
export interface KnownFiles {
  /** Returns the path as it was given; null: the name matches no path, or several. */
  find(reported: string): string | null;
  /** Finds by a name that is no path: of a listed unit, or of a class. Missing if only files are known. */
  findName?(name: string): string | null;
}

/** The reason for leaving out a name that `find` does not resolve. */
export const UNKNOWN_FILE = 'it matches no file of --files-from, or several';

/**
 * Finds a path by its full name, or else by a common ending: a report may name a file by an absolute path, relative to another folder, or
 * behind the name of a Go module. The list may also have names of classes, binaries or targets, which are found by their full name.
 */
export class ListedFiles implements KnownFiles {
  readonly #byPath = new Map<string, string>();
  readonly #byName = new Map<string, string[][]>();
  readonly #classes: ClassFiles;
  readonly #otherClasses: ClassFiles;

  /** @param others paths that are found by their full name only */
  constructor(
    readonly paths: readonly string[],
    others: readonly string[] = [],
  ) {
    for (const path of paths) this.#add(normalizePath(path), path, true);
    for (const path of others) this.#add(normalizePath(path), path, false);
    for (const path of [...paths, ...others]) {
      const target = bazelTarget(path);
      if (target !== null) this.#add(target, path, false);
    }
    this.#classes = new ClassFiles(paths);
    this.#otherClasses = new ClassFiles(others);
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
    return onlyOne(this.matches(reported));
  }

  findName(name: string): string | null {
    return onlyOne(this.matchesOfName(name));
  }

  /** Reports whether the list has exactly this path or name. */
  has(path: string): boolean {
    return this.#byPath.has(normalizePath(path));
  }

  /** Returns all paths that a path in a report may mean. */
  matches(reported: string): string[] {
    const plain = normalizePath(reported);
    const exact = this.#byPath.get(plain);
    if (exact !== undefined) return [exact];
    const segments = plain.replace(/^(\.\.\/)+/, '').split('/');
    const candidates = (this.#byName.get(segments.at(-1)!) ?? []).filter(candidate => haveSameEnd(candidate, segments));
    return bestEndings(candidates, segments).map(candidate => this.#byPath.get(candidate.join('/'))!);
  }

  /** Returns all paths that a name may mean. A nested class (`Outer$Inner`, in .NET `Outer+Inner`) is in the file of its outer class. */
  matchesOfName(name: string): string[] {
    // No longer name is in a list: a report may have one of megabytes.
    if (name.length > limits.pathMaxCharacters) return [];
    for (let outer = name; outer !== ''; outer = outerClass(outer)) {
      const exact = this.#byPath.get(outer);
      if (exact !== undefined) return [exact];
      for (const files of [this.#classes.ofClass(outer), this.#otherClasses.ofClass(outer), this.#classes.byEnding(outer)])
        if (files.length > 0) return files;
    }
    return [];
  }
}

/** Returns the name of the class around a nested class; empty: the name is of no nested class. */
function outerClass(name: string): string {
  return /^(.*)[$+][^.$+]*$/.exec(name)?.[1] ?? '';
}

/** Returns the name that a report of Bazel has for a label: shop/cart_test for //shop:cart_test. Null: the path is no label. */
function bazelTarget(path: string): string | null {
  const [, folder, name] = /^\/\/([^:]*):(.+)$/.exec(path) ?? [];
  return name === undefined ? null : folder === '' ? name : `${folder}/${name}`;
}

/** The folder that packages begin at, in the layout of Maven and Gradle: src/test/java, src/jvmTest/kotlin, src/test/scala-3. */
const SOURCE_ROOT = /(?:^|\/)src\/[^/]+\/(?:java|kotlin|groovy|scala)[^/]*\//;

interface ClassFile {
  path: string;
  /** The package and the class, behind folders of an unknown source root. */
  segments: string[];
  hasRoot: boolean;
}

/** The source files of a list by the class that their path names: a/b/CartTest.java has a.b.CartTest. */
class ClassFiles {
  readonly #byClass = new Map<string, ClassFile[]>();

  constructor(paths: readonly string[]) {
    for (const path of paths) {
      const [, plain] = /^(.*)\.(?:java|kt|groovy|scala)$/.exec(normalizePath(path)) ?? [];
      if (plain === undefined) continue;
      const root = SOURCE_ROOT.exec(plain);
      const segments = (root ? plain.slice(root.index + root[0].length) : plain).split('/');
      const last = segments.at(-1)!;
      const others = this.#byClass.get(last) ?? [];
      others.push({ path, segments, hasRoot: root !== null });
      this.#byClass.set(last, others);
    }
  }

  /** Returns the files whose path, from the source root or from its beginning, is that of the class. */
  ofClass(name: string): string[] {
    const segments = name.split('.');
    return this.#candidates(segments)
      .filter(candidate => candidate.segments.length === segments.length)
      .map(({ path }) => path);
  }

  /** Returns the files that have the longest common ending with the class, of those whose source root is not known. */
  byEnding(name: string): string[] {
    const segments = name.split('.');
    const candidates = this.#candidates(segments).filter(({ hasRoot }) => !hasRoot);
    const best = new Set(
      bestEndings(
        candidates.map(candidate => candidate.segments),
        segments,
      ),
    );
    return candidates.filter(candidate => best.has(candidate.segments)).map(({ path }) => path);
  }

  #candidates(segments: readonly string[]): ClassFile[] {
    return (this.#byClass.get(segments.at(-1)!) ?? []).filter(candidate => haveSameEnd(candidate.segments, segments));
  }
}

/** Returns those with the longest common ending, which is the best match. */
function bestEndings(candidates: readonly string[][], segments: readonly string[]): string[][] {
  const commonLength = (candidate: readonly string[]) => Math.min(candidate.length, segments.length);
  const longest = candidates.reduce((max, candidate) => Math.max(max, commonLength(candidate)), 0);
  return candidates.filter(candidate => commonLength(candidate) === longest);
}

function onlyOne(paths: readonly string[]): string | null {
  return paths.length === 1 ? paths[0]! : null;
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
