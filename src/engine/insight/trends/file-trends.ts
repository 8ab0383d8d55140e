import { type ChangePoint, changePoints } from '../../../planning/estimating/change-point.js';
import type { Build } from '../../ports/builds.js';
import type { Millis, Store } from '../../ports/store.js';
import { type FileTable, fileTable } from './file-table.js';
import { isOutOfDate } from './summary.js';

export type FileOrder = 'median' | 'spread' | 'growth' | 'decided' | 'path';

export interface FileTrendSubject {
  project: number;
  branch: string;
  /** Only files with this text in their paths, in upper or lower case; null: all. */
  path: string | null;
  order: FileOrder;
  offset: number;
  limit: number;
}

/** A part of the files of a branch. */
export interface FileTrendPage {
  builds: number;
  /** When the first of the builds was recorded. */
  since: Millis | null;
  /** Sum of the medians of all files. */
  total: number;
  files: FileRow[];
  /** How many files have the text in their paths. */
  count: number;
  /** How many builds each file decided, most first. */
  decided: { path: string; builds: number }[];
  /** Builds whose summaries are to be written again. */
  outdated: Build[];
}

/** A file over the builds. Durations are seconds. */
export interface FileRow extends Pick<FileStatistics, 'median' | 'spread' | 'change'> {
  path: string;
  last: number;
  builds: number;
  decided: number;
  recent: (number | null)[];
}

export interface FileStatistics {
  median: number;
  /** The usual deviation, as a factor of at least 1, from the differences of consecutive builds: a change of the level is no deviation. */
  spread: number;
  /** The last change; null: its duration did not change. */
  change: { build: Build; before: number; after: number } | null;
}

/** Standard deviations per median absolute difference of two values that are normally distributed. */
const DEVIATIONS_PER_STEP = 1.4826 / Math.SQRT2;
const RECENT = 20;
const DECIDING_FILES = 100;

export async function fileTrends(
  store: Pick<Store, 'builds' | 'summaries'>,
  { project, branch, path, order, offset, limit }: FileTrendSubject,
): Promise<FileTrendPage> {
  const table = await fileTable(store.builds, project, branch);
  const { decided, outdated } = await decidedBuilds(store, table.builds);
  const files = new Files(table);
  const byNumber = new Map<number, number>();
  for (const [name, builds] of decided) byNumber.set((await store.builds.pathNumber(project, name)) ?? -1, builds);
  const decidedBy = (file: number) => byNumber.get(table.paths[file]!) ?? 0;
  const names = new Map<number, string>();
  if (path !== null || order === 'path')
    for (const file of table.paths.keys()) names.set(file, await store.builds.path(table.paths[file]!));
  const total = files.medians.reduce((sum, each) => sum + each, 0);
  const wanted = path?.toLowerCase();
  const found = Uint32Array.from(table.paths.keys()).filter(
    file => wanted === undefined || names.get(file)!.toLowerCase().includes(wanted),
  );
  sortFiles(found, file => {
    if (order === 'path') return names.get(file)!;
    // Of files that decided as many builds, the slowest comes first.
    if (order === 'decided') return decidedBy(file) + files.medians[file]! / (1 + total);
    return order === 'median' ? files.medians[file]! : files.secondsBy(order, file);
  });
  const rows = Array.from(found.subarray(offset, offset + limit), async file => ({
    path: names.get(file) ?? (await store.builds.path(table.paths[file]!)),
    ...files.row(file),
    decided: decidedBy(file),
  }));
  const deciding = [...decided].map(([name, builds]) => ({ path: name, builds })).sort((a, b) => b.builds - a.builds);
  return {
    builds: table.builds.length,
    since: table.builds[0]?.created_at ?? null,
    total,
    files: await Promise.all(rows),
    count: found.length,
    decided: deciding.slice(0, DECIDING_FILES),
    outdated,
  };
}

/** How many of these builds each file decided, according to their summaries. */
async function decidedBuilds({ summaries }: Pick<Store, 'summaries'>, builds: readonly Build[]) {
  const decided = new Map<string, number>();
  const outdated: Build[] = [];
  for (const build of builds) {
    const summary = await summaries.get(build.number);
    if (isOutOfDate(build, summary)) outdated.push(build);
    const path = summary?.decided_by ?? null;
    if (path !== null) decided.set(path, (decided.get(path) ?? 0) + 1);
  }
  return { decided, outdated };
}

/** Sorts by numbers, the largest first, or by texts. Files with the same key keep their order. */
function sortFiles(files: Uint32Array, keyOf: (file: number) => number | string): void {
  const keys = new Map<number, number | string>();
  for (const file of files) keys.set(file, keyOf(file));
  files.sort((a, b) => {
    const [x, y] = [keys.get(a)!, keys.get(b)!];
    if (typeof x === 'number') return (y as number) - x || a - b;
    return x < y ? -1 : x > y ? 1 : a - b;
  });
}

/** Statistics of the files of a table. The expensive ones are computed where they are needed. */
class Files {
  readonly medians: Float64Array;

  constructor(readonly table: FileTable) {
    this.medians = Float64Array.from(table.paths, (_, file) => middleOf(this.#times(file).slice().sort()));
  }

  /** By how many seconds a file varies, or grew with its last change. */
  secondsBy(order: 'spread' | 'growth', file: number): number {
    if (order === 'spread') return this.medians[file]! * (this.#spread(file) - 1);
    const change = this.#change(file);
    return change ? change.after - change.before : 0;
  }

  row(file: number): Omit<FileRow, 'path' | 'decided'> {
    const times = this.#times(file);
    const { builds, at, starts } = this.table;
    const recent = builds.slice(-RECENT).map((): number | null => null);
    for (const [i, seconds] of times.entries()) {
      const position = at[starts[file]! + i]! - (builds.length - recent.length);
      if (position >= 0) recent[position] = seconds;
    }
    const change = this.#change(file);
    return {
      median: this.medians[file]!,
      last: times.at(-1)!,
      spread: this.#spread(file),
      builds: times.length,
      change: change && { build: builds[at[starts[file]! + change.index]!]!, before: change.before, after: change.after },
      recent,
    };
  }

  #times(file: number): Float64Array {
    return this.table.seconds.subarray(this.table.starts[file], this.table.starts[file + 1]);
  }

  #change(file: number): ChangePoint | null {
    return changePoints(this.#times(file)).at(-1) ?? null;
  }

  #spread(file: number): number {
    const times = this.#times(file);
    if (times.length < 2) return 1;
    const steps = new Float64Array(times.length - 1);
    for (let i = 0; i < steps.length; i++) steps[i] = Math.abs(Math.log(times[i + 1]! / times[i]!));
    return Math.exp(DEVIATIONS_PER_STEP * middleOf(steps.sort()));
  }
}

function middleOf(sorted: Float64Array): number {
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1]!, sorted[middle]!];
  // The sum of two huge values may overflow.
  return low + (high - low) / 2;
}
