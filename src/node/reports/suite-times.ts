import { posix, resolve } from 'node:path';
import { fileOf } from '../../protocol/test-case.js';
import { type Format, timingTables } from './format.js';
import { DiskFiles, type ListedFiles, UNKNOWN_FILE } from './known-files.js';
import type { AddTime } from './report.js';
import { pathError, SkippedEntries, secondsError } from './skipped-entries.js';

export interface SuiteOptions {
  /** Absolute paths are made relative to this folder. */
  root: string;
  /** The test files; null: not given. */
  known: ListedFiles | null;
  /** Keep test cases instead of adding them up by file. */
  cases: boolean;
}

/** Adds up the times of a suite by file, from one or more reports. A path in several timing tables counts with its mean. */
export class SuiteTimes {
  /** Seconds from reports of runs, by file or test case. */
  readonly #runTimes = new Map<string, number>();
  /** Seconds from timing tables, by path, with the number of tables that have the path. */
  readonly #tableTimes = new Map<string, { seconds: number; tables: number }>();
  readonly #root: string;
  /** The number of usable paths in the current report. */
  #usableCount = 0;
  /** The absolute paths of the current report that are not below the root. */
  readonly #outsideRoot = new Set<string>();
  readonly skipped = new SkippedEntries();
  readonly known: ListedFiles | null;

  constructor(private readonly options: SuiteOptions) {
    this.known = options.known;
    this.#root = toForwardSlashes(isAbsolute(options.root) ? options.root : resolve(options.root)).replace(/\/+$/, '');
  }

  /** Returns the function that adds the times of a report of a format. */
  timeCollector(format: Format): AddTime {
    const isTable = timingTables.has(format);
    return (reported, seconds, entryError) => {
      const error = entryError ?? secondsError(seconds);
      if (error) return this.skipped.add(error, reported);
      const path = this.#resolvePath(reported);
      if (path === null) return;
      if (isTable) {
        const before = this.#tableTimes.get(path) ?? { seconds: 0, tables: 0 };
        this.#tableTimes.set(path, { seconds: before.seconds + seconds, tables: before.tables + 1 });
      } else {
        const file = this.#recordedPath(path);
        this.#runTimes.set(file, (this.#runTimes.get(file) ?? 0) + seconds);
      }
    };
  }

  /** Returns the seconds of each path. Paths with 0 s are skipped. */
  times(): Map<string, number> {
    const sums = new Map(this.#runTimes);
    for (const [tablePath, { seconds, tables }] of this.#tableTimes) {
      const path = this.#recordedPath(tablePath);
      sums.set(path, (sums.get(path) ?? 0) + seconds / tables);
    }
    const times = new Map<string, number>();
    for (const [path, sum] of sums) {
      const seconds = Number(sum.toPrecision(12));
      const error = timingError(path, seconds);
      if (error) this.skipped.add(error, path);
      else times.set(path, seconds);
    }
    return times;
  }

  /** Ends a report. Returns an error if all of its paths are absolute and not below the root: no client would ask for them. */
  endReport(): string | null {
    const [usable, outside] = [this.#usableCount, [...this.#outsideRoot]];
    this.#usableCount = 0;
    this.#outsideRoot.clear();
    if (usable > 0 || outside.length === 0) return null;
    const root = this.#guessRoot(outside);
    const folder = commonFolder(outside);
    return (
      `all of its paths are absolute and not below ${this.#root || '/'}, such as ${outside[0]}: name the folder that the test files are relative to with --root` +
      (root !== null ? ` (judging by the files in this folder: --root ${root})` : folder ? ` (all of them are below ${folder})` : '')
    );
  }

  /** Returns the path of a known file or relative to the root, with its test case. Null: the path was skipped. */
  #resolvePath(reported: string): string | null {
    const file = this.#withoutCase(reported);
    const path = posix.normalize(toForwardSlashes(file));
    let found: string | null;
    if (this.known) {
      found = this.known.find(path);
      if (found === null) this.skipped.add(UNKNOWN_FILE, reported);
    } else {
      found = this.#relativeToRoot(path);
      if (found === null) this.skipped.add(`its path is absolute and not below ${this.#root || '/'} (--root)`, reported);
    }
    return found === null ? null : found + reported.slice(file.length);
  }

  #recordedPath(path: string): string {
    return this.options.cases ? path : this.#withoutCase(path);
  }

  /** A name of the list may look like that of a test case: `crate::binary`. */
  #withoutCase(path: string): string {
    return this.known?.has(path) ? path : withoutCase(path);
  }

  /** Null: the path is not below the root, such as a file of a library. */
  #relativeToRoot(path: string): string | null {
    if (isAbsolute(path) && !path.startsWith(`${this.#root}/`)) {
      this.#outsideRoot.add(path);
      return null;
    }
    this.#usableCount += 1;
    return isAbsolute(path) ? path.slice(this.#root.length + 1) : path;
  }

  /** Guesses the root on the machine of the report, by a file that is also on this machine. Null: there is none. */
  #guessRoot(paths: readonly string[]): string | null {
    const disk = new DiskFiles(this.#root || '/');
    for (const path of paths.slice(0, 100)) {
      for (let end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1))
        if (disk.find(path.slice(end + 1)) !== null) return path.slice(0, end);
    }
    return null;
  }
}

/** Returns why a path or its time cannot be recorded; null: both can. */
function timingError(path: string, seconds: number): string | null {
  // The decoder replaces invalid bytes by U+FFFD.
  const encodingError = path.includes('\ufffd') ? 'its path is not in the encoding that the report declares' : null;
  return pathError(path) ?? encodingError ?? secondsError(seconds) ?? (seconds === 0 ? 'it took 0 s: it was not run' : null);
}

function withoutCase(path: string): string {
  return fileOf(path) ?? path;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path);
}

/** Replaces the backslashes of a Windows path. Clients use slashes on Windows, too. */
function toForwardSlashes(path: string): string {
  return /^[A-Za-z]:\\/.test(path) || !path.includes('/') ? path.replaceAll('\\', '/') : path;
}

function commonFolder(paths: readonly string[]): string {
  const [first = '', ...others] = paths.map(path => path.split('/').slice(0, -1));
  let count = first.length;
  for (const folders of others)
    while (count > 0 && folders.slice(0, count).join('/') !== (first as string[]).slice(0, count).join('/')) count -= 1;
  return (first as string[]).slice(0, count).join('/');
}
