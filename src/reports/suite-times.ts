import { resolve } from 'node:path';
import { limits } from '../limits.js';
import { fileOf } from '../plan/times/test-case.js';
import type { Tell } from './report.js';

/** What was left out, and a few of it. */
export interface Skipped {
  reason: string;
  count: number;
  examples: string[];
}

const EXAMPLES = 3;
/** No test file takes longer: it is of another unit, or a laptop was asleep. */
export const ABSURD_SECONDS = 86_400;

/** What was left out and why, however much of it there is. */
export class Leftovers {
  readonly #by = new Map<string, Skipped>();

  add(reason: string, example: string): void {
    const skipped = this.#by.get(reason) ?? { reason, count: 0, examples: [] };
    skipped.count += 1;
    if (skipped.examples.length < EXAMPLES) skipped.examples.push(example);
    this.#by.set(reason, skipped);
  }

  get all(): Skipped[] {
    return [...this.#by.values()];
  }
}

/** Why a path cannot be recorded, null when it can. */
export function complaintOfPath(path: string): string | null {
  const { pathMinCharacters: least, pathMaxCharacters: most } = limits;
  return path.length < least || path.length > most ? `the path has not ${least} to ${most} characters` : null;
}

/** Why a time cannot count, null when it can. */
export function complaintOfSeconds(seconds: number): string | null {
  if (Number.isNaN(seconds)) return 'it has no time';
  if (seconds < 0) return 'its time is negative';
  return seconds > ABSURD_SECONDS ? 'it took more than a day: is that seconds?' : null;
}

export interface SuiteOptions {
  /** What absolute paths are made relative to. */
  root: string;
  /** Test cases stay what they are, and are not added up by file. */
  cases: boolean;
}

/** The times of a suite, from one report or many: added up by path. */
export class SuiteTimes {
  readonly #seconds = new Map<string, number>();
  readonly #root: string;
  /** Of the report that is being read: how many paths can be used, and which are absolute and not below the root. */
  #inside = 0;
  readonly #outside = new Set<string>();
  readonly leftovers = new Leftovers();

  constructor(private readonly options: SuiteOptions) {
    this.#root = slashed(isAbsolute(options.root) ? options.root : resolve(options.root)).replace(/\/+$/, '');
  }

  readonly tell: Tell = (reported, seconds, unusable) => {
    const complaint = unusable ?? complaintOfSeconds(seconds);
    if (complaint) return this.leftovers.add(complaint, reported);
    const relative = this.#relative(reported);
    if (relative === null) return this.leftovers.add(`its path is absolute and not below ${this.#root || '/'} (--root)`, reported);
    const path = this.options.cases ? relative : (fileOf(relative) ?? relative);
    this.#seconds.set(path, (this.#seconds.get(path) ?? 0) + seconds);
  };

  /** The seconds of each path. What took no time at all is left out. */
  times(): Map<string, number> {
    const times = new Map<string, number>();
    for (const [path, sum] of this.#seconds) {
      const seconds = Number(sum.toPrecision(12));
      const complaint = complaintOfPath(path) ?? complaintOfSeconds(seconds) ?? (seconds === 0 ? 'it took 0 s: it was not run' : null);
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
    const folder = commonFolder(outside);
    return (
      `all of its ${outside.length} paths are absolute and not below ${this.#root || '/'}, such as ${outside[0]}: name the folder that the test files are relative to with --root` +
      (folder ? ` (all of them are below ${folder})` : '')
    );
  }

  /** Null: it is elsewhere, such as a file of a library. */
  #relative(reported: string): string | null {
    const path = slashed(reported);
    if (isAbsolute(path) && !path.startsWith(`${this.#root}/`)) {
      this.#outside.add(path);
      return null;
    }
    this.#inside += 1;
    return isAbsolute(path) ? path.slice(this.#root.length + 1) : reported.replace(/^(\.\/)+/, '');
  }
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path);
}

/** Of Windows: clients name paths with slashes there, too. */
function slashed(path: string): string {
  return /^[A-Za-z]:\\/.test(path) ? path.replaceAll('\\', '/') : path;
}

function commonFolder(paths: readonly string[]): string {
  const [first = '', ...others] = paths.map(path => path.split('/').slice(0, -1));
  let count = first.length;
  for (const folders of others) while (count > 0 && folders.slice(0, count).join('/') !== (first as string[]).slice(0, count).join('/')) count -= 1;
  return (first as string[]).slice(0, count).join('/');
}
