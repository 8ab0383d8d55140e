import { rounded } from '../../../base/rounding.js';
import { timestamp } from '../../../base/time.js';
import type { FileTrend, FileTrends } from '../../../protocol/answers/trends.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Store } from '../../engine/ports/store.js';
import { isOutOfDate } from '../../engine/ports/summaries.js';
import type { ChangePoint } from '../../planning/estimating/change-point.js';
import { DEVIATIONS_PER_MAD, middleOf } from '../../planning/estimating/median.js';
import { fileChanges } from './file-changes.js';
import { type FileTable, fileTable } from './file-table.js';
import { decidingPath, type Trend, withSummaries } from './summary.js';

export interface FileTrendSubject {
  project: number;
  branch: string;
  /** Only files with this text in their paths, in upper or lower case; null: all. */
  path: string | null;
  order: 'estimate' | 'median' | 'spread' | 'growth' | 'decided' | 'path';
  offset: number;
  limit: number;
}

/** Standard deviations per median absolute difference of two values that are normally distributed. */
const DEVIATIONS_PER_STEP = DEVIATIONS_PER_MAD / Math.SQRT2;
const RECENT = 20;
/** A file that none of so many last builds measured is no longer planned. A build with less than half of the files of the largest one is a part. */
const PLANNED_BUILDS = 5;
const DECIDING_FILES = 100;

export async function fileTrends(
  store: Pick<Store, 'builds' | 'summaries' | 'timings'>,
  { project, branch, path, order, offset, limit }: FileTrendSubject,
): Promise<Trend<FileTrends>> {
  const table = await fileTable(store, project, branch);
  const { decided, outdated } = await decidedBuilds(store, table.builds);
  const files = new Files(table, await store.timings.ofPaths(project, branch, table.paths));
  const byNumber = new Map<number, number>();
  for (const [name, builds] of decided) byNumber.set((await store.builds.pathNumber(project, name)) ?? -1, builds);
  const decidedBy = (file: number) => byNumber.get(table.paths[file]!) ?? 0;
  const names = new Map<number, string>();
  if (path !== null || order === 'path')
    for (const file of table.paths.keys()) names.set(file, await store.builds.path(table.paths[file]!));
  const total = files.estimates.reduce((sum, each) => sum + each, 0);
  const wanted = path?.toLowerCase();
  const found = Uint32Array.from(table.paths.keys()).filter(
    file => wanted === undefined || names.get(file)!.toLowerCase().includes(wanted),
  );
  sortFiles(found, file => {
    if (order === 'path') return names.get(file)!;
    // Of files that decided as many builds, the slowest comes first.
    if (order === 'decided') return decidedBy(file) + files.estimates[file]! / (1 + total);
    return files.secondsBy(order, file);
  });
  const rows = Array.from(found.subarray(offset, offset + limit), async file => ({
    path: names.get(file) ?? (await store.builds.path(table.paths[file]!)),
    ...files.row(file, total),
    decided: decidedBy(file),
  }));
  const deciding = [...decided].map(([name, builds]) => ({ path: name, builds })).sort((a, b) => b.builds - a.builds);
  const [first] = table.builds;
  const answer = {
    branch,
    builds: table.builds.length,
    since: first ? timestamp(first.created_at) : null,
    total: rounded(total),
    files: await Promise.all(rows),
    file_count: found.length,
    decided: deciding.slice(0, DECIDING_FILES),
  };
  return { answer, outdated };
}

/** Counts, for each file, the builds that it decided, according to their summaries. */
async function decidedBuilds(store: Pick<Store, 'summaries'>, builds: readonly Build[]) {
  const decided = new Map<string, number>();
  const outdated: Build[] = [];
  for (const { build, summary } of await withSummaries(store, builds)) {
    if (isOutOfDate(build, summary)) outdated.push(build);
    const path = decidingPath(summary);
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
  /** Estimates of the next build, in seconds; 0: it will not have the file. */
  readonly estimates: Float64Array;

  /** @param times the current times of the files in seconds; NaN: unknown */
  constructor(
    readonly table: FileTable,
    times: Float64Array,
  ) {
    const { at, starts, builds } = table;
    const most = builds.reduce((largest, { test_files }) => Math.max(largest, test_files), 0);
    const whole = [...builds.keys()].filter(build => 2 * builds[build]!.test_files >= most);
    const oldest = whole.at(-PLANNED_BUILDS) ?? 0;
    this.estimates = times.map((seconds, file) => {
      if (at[starts[file + 1]! - 1]! < oldest) return 0;
      return Number.isNaN(seconds) ? this.#median(file) : seconds;
    });
  }

  /** The seconds of a file, those by which it varies, or those by which it grew with its last change. */
  secondsBy(order: 'estimate' | 'median' | 'spread' | 'growth', file: number): number {
    if (order === 'estimate') return this.estimates[file]!;
    if (order === 'median') return this.#median(file);
    if (order === 'spread') return this.#median(file) * (this.#spread(file) - 1);
    const change = this.#change(file);
    return change ? change.after - change.before : 0;
  }

  /** @param total the sum of all estimates */
  row(file: number, total: number): Omit<FileTrend, 'path' | 'decided'> {
    const times = this.#times(file);
    const { builds, at, starts } = this.table;
    const recent = builds.slice(-RECENT).map((): number | null => null);
    for (const [i, seconds] of times.entries()) {
      const position = at[starts[file]! + i]! - (builds.length - recent.length);
      if (position >= 0) recent[position] = rounded(seconds);
    }
    const change = this.#change(file);
    const changedIn = change && builds[at[starts[file]! + change.index]!]!;
    const estimate = this.estimates[file]!;
    return {
      estimate: estimate > 0 ? rounded(estimate) : null,
      median: rounded(this.#median(file)),
      last: rounded(times.at(-1)!),
      spread: rounded(this.#spread(file)),
      share: rounded(total > 0 ? estimate / total : 0, 1e6),
      builds: times.length,
      change: changedIn && {
        at: timestamp(changedIn.created_at),
        commit_hash: changedIn.commit_hash,
        factor: rounded(change.after / change.before),
        seconds: rounded(change.after - change.before),
      },
      recent,
    };
  }

  #times(file: number): Float64Array {
    return this.table.seconds.subarray(this.table.starts[file], this.table.starts[file + 1]);
  }

  #median(file: number): number {
    return middleOf(this.#times(file).toSorted());
  }

  #change(file: number): ChangePoint | null {
    const { isCut, starts } = this.table;
    return fileChanges(this.#times(file), isCut.subarray(starts[file], starts[file + 1])).at(-1) ?? null;
  }

  /** The usual deviation, from the differences of consecutive builds: a change of the level is no deviation. */
  #spread(file: number): number {
    const times = this.#times(file);
    if (times.length < 2) return 1;
    const steps = new Float64Array(times.length - 1);
    for (let i = 0; i < steps.length; i++) steps[i] = Math.abs(Math.log(times[i + 1]! / times[i]!));
    return Math.exp(DEVIATIONS_PER_STEP * middleOf(steps.sort()));
  }
}
