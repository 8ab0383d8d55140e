import { posix, resolve } from 'node:path';
import { fileOf } from '../planning/estimating/test-case.js';
import { DiskFiles } from './disk-files.js';
import { type Format, tables } from './format.js';
import { type KnownFiles, UNKNOWN } from './known-files.js';
import type { Tell } from './report.js';
import { complaintOfPath, complaintOfSeconds, SkippedEntries } from './skipped-entries.js';

export interface SuiteOptions {
  /** What absolute paths are made relative to. */
  root: string;
  /** The test files, where they were named. */
  known: KnownFiles | null;
  /** Test cases stay what they are, and are not added up by file. */
  cases: boolean;
  /** No other report says anything of the same test cases: they need not be kept apart, of which there may be millions. */
  isAlone?: boolean;
}

/** The times of a suite, from one report or many: added up by file. What tables say twice is said twice, and counts with its mean. */
export class SuiteTimes {
  /** Seconds by what was run, a test case or a file: as reports of runs tell. */
  readonly #ran = new Map<string, number>();
  /** As tables tell, each of which may. */
  readonly #tables = new Map<string, { seconds: number; tables: number }>();
  readonly #root: string;
  /** Of the report that is being read: how many paths can be used, and which are absolute and not below the root. */
  #inside = 0;
  readonly #outside = new Set<string>();
  readonly leftovers = new SkippedEntries();
  readonly known: KnownFiles | null;

  constructor(private readonly options: SuiteOptions) {
    this.known = options.known;
    this.#root = slashed(isAbsolute(options.root) ? options.root : resolve(options.root)).replace(/\/+$/, '');
  }

  /** Whom a report of a format is told. */
  tellOf(format: Format): Tell {
    const isTable = tables.has(format);
    return (reported, seconds, unusable) => {
      const complaint = unusable ?? complaintOfSeconds(seconds);
      if (complaint) return this.leftovers.add(complaint, reported);
      const path = this.#recordable(reported);
      if (path === null) return;
      const file = this.#kept(path);
      // Cases of one table alone.
      const isPart = this.options.isAlone && file !== path;
      const before = this.#tables.get(path);
      if (!isTable || isPart) this.#ran.set(file, (this.#ran.get(file) ?? 0) + seconds);
      else if (!before) this.#tables.set(path, { seconds, tables: 1 });
      else {
        before.seconds += seconds;
        before.tables += 1;
      }
    };
  }

  /** The seconds of each path. What took no time at all is left out. */
  times(): Map<string, number> {
    const sums = new Map(this.#ran);
    for (const [told, { seconds, tables }] of this.#tables) {
      const path = this.#kept(told);
      sums.set(path, (sums.get(path) ?? 0) + seconds / tables);
    }
    const times = new Map<string, number>();
    for (const [path, sum] of sums) {
      const seconds = Number(sum.toPrecision(12));
      const complaint = complaintOf(path, seconds);
      if (complaint) this.leftovers.add(complaint, path);
      else times.set(path, seconds);
    }
    return times;
  }

  /** At the end of a report: a sentence when all of its paths are absolute and not below the root, as no client would ask for them. */
  endReport(): string | null {
    const [inside, outside] = [this.#inside, [...this.#outside]];
    this.#inside = 0;
    this.#outside.clear();
    if (inside > 0 || outside.length === 0) return null;
    const root = this.#rootOf(outside);
    const folder = commonFolder(outside);
    return (
      `all of its paths are absolute and not below ${this.#root || '/'}, such as ${outside[0]}: name the folder that the test files are relative to with --root` +
      (root !== null ? ` (by the files that are here: --root ${root})` : folder ? ` (all of them are below ${folder})` : '')
    );
  }

  /** The path as it is recorded. Null: it was left out, and that is told. */
  #recordable(reported: string): string | null {
    const file = fileIn(reported);
    const path = posix.normalize(slashed(file));
    let found: string | null;
    if (this.known) {
      found = this.known.find(path);
      if (found === null) this.leftovers.add(UNKNOWN, reported);
    } else {
      found = this.#relative(path);
      if (found === null) this.leftovers.add(`its path is absolute and not below ${this.#root || '/'} (--root)`, reported);
    }
    return found === null ? null : found + reported.slice(file.length);
  }

  #kept(path: string): string {
    return this.options.cases ? path : fileIn(path);
  }

  /** Null: it is elsewhere, such as a file of a library. */
  #relative(path: string): string | null {
    if (isAbsolute(path) && !path.startsWith(`${this.#root}/`)) {
      this.#outside.add(path);
      return null;
    }
    this.#inside += 1;
    return isAbsolute(path) ? path.slice(this.#root.length + 1) : path;
  }

  /** Where the root of this machine was on that of the report, by a file that both have. */
  #rootOf(paths: readonly string[]): string | null {
    const disk = new DiskFiles(this.#root || '/');
    for (const path of paths.slice(0, 100)) {
      for (let end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1))
        if (disk.find(path.slice(end + 1)) !== null) return path.slice(0, end);
    }
    return null;
  }
}

/** Why neither path nor time can be recorded, null when they can. */
function complaintOf(path: string, seconds: number): string | null {
  // What the report has there was no character of its encoding.
  const ofPath = complaintOfPath(path) ?? (path.includes('\ufffd') ? 'its path is in another encoding than the report says' : null);
  return ofPath ?? complaintOfSeconds(seconds) ?? (seconds === 0 ? 'it took 0 s: it was not run' : null);
}

function fileIn(path: string): string {
  return fileOf(path) ?? path;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path);
}

/** Of Windows: clients name paths with slashes there, too. */
function slashed(path: string): string {
  return /^[A-Za-z]:\\/.test(path) || !path.includes('/') ? path.replaceAll('\\', '/') : path;
}

function commonFolder(paths: readonly string[]): string {
  const [first = '', ...others] = paths.map(path => path.split('/').slice(0, -1));
  let count = first.length;
  for (const folders of others)
    while (count > 0 && folders.slice(0, count).join('/') !== (first as string[]).slice(0, count).join('/')) count -= 1;
  return (first as string[]).slice(0, count).join('/');
}
