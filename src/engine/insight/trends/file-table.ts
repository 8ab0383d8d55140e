import { limits } from '../../../limits.js';
import { pieceOf } from '../../../piece-path.js';
import type { Build, RunTimes } from '../../ports/builds.js';
import type { Store } from '../../ports/store.js';

/**
 * The times of all files in some builds, in columns: 100,000 files in 50 builds are five million times. The times of a file are in the
 * order of the builds, at most one a build: the last one that was recorded. Files that were only scheduled have none.
 */
export interface FileTable {
  /** Oldest first. */
  builds: Build[];
  /** By file: the number of its path. */
  paths: Uint32Array;
  /** The times of file i are from starts[i] up to starts[i + 1]. */
  starts: Uint32Array;
  /** By time: the index of its build, and its seconds. */
  at: Uint8Array;
  seconds: Float64Array;
}

interface BuildTimes {
  build: Build;
  /** In the order of recording. */
  runs: RunTimes[];
}

type TableStore = Pick<Store, 'builds' | 'cases'>;

/** Reads the last builds of a branch, at most `limits.trendBuilds`. */
export async function fileTable(store: TableStore, project: number, branch: string): Promise<FileTable> {
  return timesOfBuilds(store, project, (await store.builds.older(project, { branch }, null, limits.trendBuilds)).builds);
}

/** Reads builds, from the newest back while `limits.trendTestFiles` allow. */
export async function timesOfBuilds(store: TableStore, project: number, newestFirst: readonly Build[]): Promise<FileTable> {
  const { builds } = store;
  const pieces = await piecesOfFiles(store, project);
  const read: BuildTimes[] = [];
  let files = 0;
  for (const build of newestFirst) {
    files += build.test_files;
    if (read.length > 0 && files > limits.trendTestFiles) break;
    const heads = (await builds.runs(build.number)).sort((a, b) => a.ordinal - b.ordinal);
    const runs: RunTimes[] = [];
    for (const head of heads) {
      const times = await builds.times(build.number, head);
      if (times) runs.push(times);
    }
    if (pieces.size > 0) joinPieces(runs, pieces);
    read.push({ build, runs });
  }
  return toTable(read.reverse());
}

/** A piece of a file: the number of the path of the file, and in how many pieces it was. */
interface NumberedPiece {
  file: number;
  count: number;
}

/** The recorded pieces of files, by the numbers of their paths. */
async function piecesOfFiles({ builds, cases }: TableStore, project: number): Promise<Map<number, NumberedPiece>> {
  const pieces = new Map<number, NumberedPiece>();
  for (const name of await cases.files(project)) {
    const file = await builds.pathNumber(project, name);
    for (const { number, path } of file === null ? [] : await builds.pieces(project, name))
      pieces.set(number, { file: file!, count: pieceOf(path)!.count });
  }
  return pieces;
}

/** Replaces the times of pieces in the runs of a build by those of their files. A file of which a piece is missing has none. */
function joinPieces(runs: RunTimes[], pieces: ReadonlyMap<number, NumberedPiece>): void {
  const last = new Map<number, number>();
  for (const { paths, seconds } of runs) {
    for (let i = 0; i < paths.length; i++) {
      if (!pieces.has(paths[i]!)) continue;
      if (seconds[i]! > 0) last.set(paths[i]!, seconds[i]!);
      seconds[i] = 0;
    }
  }
  const files = new Map<string, { file: number; seconds: number; left: number }>();
  for (const [path, seconds] of last) {
    const { file, count } = pieces.get(path)!;
    const key = `${file} ${count}`;
    const joined = files.get(key) ?? { file, seconds: 0, left: count };
    files.set(key, { file, seconds: joined.seconds + seconds, left: joined.left - 1 });
  }
  const whole = [...files.values()].filter(({ left }) => left === 0);
  if (whole.length > 0)
    runs.push({ paths: Uint32Array.from(whole, ({ file }) => file), seconds: Float64Array.from(whole, ({ seconds }) => seconds) });
}

function toTable(read: readonly BuildTimes[]): FileTable {
  const files = new Map<number, number>();
  const counts: number[] = [];
  /** By file: the last build that recorded it. */
  const lastIn: number[] = [];
  for (const [at, { runs }] of read.entries()) {
    for (const { paths, seconds } of runs) {
      for (let i = 0; i < paths.length; i++) {
        if (!(seconds[i]! > 0)) continue;
        let file = files.get(paths[i]!);
        if (file === undefined) files.set(paths[i]!, (file = counts.push(0) - 1));
        if (lastIn[file] !== at) counts[file]! += 1;
        lastIn[file] = at;
        // The number of the path is replaced by that of the file, because a look-up takes longer than all else.
        paths[i] = file;
      }
    }
  }
  const starts = new Uint32Array(counts.length + 1);
  for (let file = 0; file < counts.length; file++) starts[file + 1] = starts[file]! + counts[file]!;
  const size = starts.at(-1)!;
  const table = { at: new Uint8Array(size), seconds: new Float64Array(size) };
  const ends = starts.slice(0, counts.length);
  for (const [at, { runs }] of read.entries()) {
    for (const { paths, seconds } of runs) {
      for (let i = 0; i < paths.length; i++) {
        if (!(seconds[i]! > 0)) continue;
        const file = paths[i]!;
        const isAgain = ends[file]! > starts[file]! && table.at[ends[file]! - 1] === at;
        const entry = isAgain ? ends[file]! - 1 : ends[file]!++;
        table.at[entry] = at;
        table.seconds[entry] = seconds[i]!;
      }
    }
  }
  return { builds: read.map(({ build }) => build), paths: Uint32Array.from(files.keys()), starts, ...table };
}
