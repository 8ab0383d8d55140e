import { posix, resolve } from 'node:path';
import { fileOf } from '../planning/estimating/test-case.js';
import { DiskFiles } from './disk-files.js';
import { type Format, timingTables } from './format.js';
import { type KnownFiles, UNKNOWN_FILE } from './known-files.js';
import type { AddTime } from './report.js';
import { pathError, SkippedEntries, secondsError } from './skipped-entries.js';

export interface SuiteOptions {
  /** What absolute paths are made relative to. */
  root: string;
  /** The test files, where they were named. */
  known: KnownFiles | null;
  /** Test cases stay what they are, and are not added up by file. */
  cases: boolean;
  /** No other report says anything of the same test cases: they need not be kept apart, of which there may be millions. */
  isOnlyReport?: boolean;
}

/** The times of a suite, from one report or many: added up by file. What tables say twice is said twice, and counts with its mean. */
export class SuiteTimes {
  /** Seconds by what was run, a test case or a file: as reports of runs tell. */
  readonly #runTimes = new Map<string, number>();
  /** As tables tell, each of which may. */
  readonly #tableTimes = new Map<string, { seconds: number; tables: number }>();
  readonly #root: string;
  /** Of the report that is being read: how many paths can be used, and which are absolute and not below the root. */
  #usableCount = 0;
  readonly #outsideRoot = new Set<string>();
  readonly skipped = new SkippedEntries();
  readonly known: KnownFiles | null;

  constructor(private readonly options: SuiteOptions) {
    this.known = options.known;
    this.#root = toForwardSlashes(isAbsolute(options.root) ? options.root : resolve(options.root)).replace(/\/+$/, '');
  }

  /** Whom a report of a format is told. */
  timeCollector(format: Format): AddTime {
    const isTable = timingTables.has(format);
    return (reported, seconds, unusable) => {
      const complaint = unusable ?? secondsError(seconds);
      if (complaint) return this.skipped.add(complaint, reported);
      const path = this.#resolvePath(reported);
      if (path === null) return;
      const file = this.#recordedPath(path);
      // Cases of one table alone.
      const isPart = this.options.isOnlyReport && file !== path;
      const before = this.#tableTimes.get(path);
      if (!isTable || isPart) this.#runTimes.set(file, (this.#runTimes.get(file) ?? 0) + seconds);
      else if (!before) this.#tableTimes.set(path, { seconds, tables: 1 });
      else {
        before.seconds += seconds;
        before.tables += 1;
      }
    };
  }

  /** The seconds of each path. What took no time at all is left out. */
  times(): Map<string, number> {
    const sums = new Map(this.#runTimes);
    for (const [told, { seconds, tables }] of this.#tableTimes) {
      const path = this.#recordedPath(told);
      sums.set(path, (sums.get(path) ?? 0) + seconds / tables);
    }
    const times = new Map<string, number>();
    for (const [path, sum] of sums) {
      const seconds = Number(sum.toPrecision(12));
      const complaint = timingError(path, seconds);
      if (complaint) this.skipped.add(complaint, path);
      else times.set(path, seconds);
    }
    return times;
  }

  /** At the end of a report: a sentence when all of its paths are absolute and not below the root, as no client would ask for them. */
  endReport(): string | null {
    const [inside, outside] = [this.#usableCount, [...this.#outsideRoot]];
    this.#usableCount = 0;
    this.#outsideRoot.clear();
    if (inside > 0 || outside.length === 0) return null;
    const root = this.#guessRoot(outside);
    const folder = commonFolder(outside);
    return (
      `all of its paths are absolute and not below ${this.#root || '/'}, such as ${outside[0]}: name the folder that the test files are relative to with --root` +
      (root !== null ? ` (by the files that are here: --root ${root})` : folder ? ` (all of them are below ${folder})` : '')
    );
  }

  /** The path as it is recorded. Null: it was left out, and that is told. */
  #resolvePath(reported: string): string | null {
    const file = withoutCase(reported);
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
    return this.options.cases ? path : withoutCase(path);
  }

  /** Null: it is elsewhere, such as a file of a library. */
  #relativeToRoot(path: string): string | null {
    if (isAbsolute(path) && !path.startsWith(`${this.#root}/`)) {
      this.#outsideRoot.add(path);
      return null;
    }
    this.#usableCount += 1;
    return isAbsolute(path) ? path.slice(this.#root.length + 1) : path;
  }

  /** Where the root of this machine was on that of the report, by a file that both have. */
  #guessRoot(paths: readonly string[]): string | null {
    const disk = new DiskFiles(this.#root || '/');
    for (const path of paths.slice(0, 100)) {
      for (let end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1))
        if (disk.find(path.slice(end + 1)) !== null) return path.slice(0, end);
    }
    return null;
  }
}

/** Why neither path nor time can be recorded, null when they can. */
function timingError(path: string, seconds: number): string | null {
  // What the report has there was no character of its encoding.
  const ofPath = pathError(path) ?? (path.includes('\ufffd') ? 'its path is in another encoding than the report says' : null);
  return ofPath ?? secondsError(seconds) ?? (seconds === 0 ? 'it took 0 s: it was not run' : null);
}

function withoutCase(path: string): string {
  return fileOf(path) ?? path;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path);
}

/** Of Windows: clients name paths with slashes there, too. */
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
