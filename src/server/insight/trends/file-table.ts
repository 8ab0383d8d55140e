import { limits } from '../../../protocol/limits.js';
import { joinPieces } from '../../engine/pieces/join-pieces.js';
import type { Build, Builds, RunTimes } from '../../engine/ports/builds.js';
import type { Store } from '../../engine/ports/store.js';

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
  /** By time: 1 if the file ran in pieces. */
  isCut: Uint8Array;
}

interface BuildTimes {
  build: Build;
  /** In the order of recording. */
  runs: (Pick<RunTimes, 'paths' | 'seconds'> & { isCut?: true })[];
}

/** Reads the last builds of a branch, at most `limits.trendBuilds`. */
export async function fileTable(store: Pick<Store, 'builds'>, project: number, branch: string): Promise<FileTable> {
  return timesOfBuilds(store, project, await store.builds.list(project, { branch }, { limit: limits.trendBuilds }));
}

/** Reads builds, from the newest back while `limits.trendTestFiles` allow. */
export async function timesOfBuilds({ builds }: Pick<Store, 'builds'>, project: number, newestFirst: readonly Build[]): Promise<FileTable> {
  const pieces = await piecesOfFiles(builds, project);
  const read: BuildTimes[] = [];
  let files = 0;
  for (const build of newestFirst) {
    files += build.test_files;
    if (read.length > 0 && files > limits.trendTestFiles) break;
    const heads = (await builds.runs(build.number)).sort((a, b) => a.ordinal - b.ordinal);
    const runs: BuildTimes['runs'] = [];
    for (const head of heads) {
      const times = await builds.times(build.number, head);
      if (times) runs.push(times);
    }
    if (pieces.size > 0) replacePieces(runs, pieces);
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
async function piecesOfFiles(builds: Builds, project: number): Promise<Map<number, NumberedPiece>> {
  const recorded = await builds.pieces(project, null);
  const names = [...new Set(recorded.map(({ file }) => file))];
  const numbers = await Promise.all(names.map(name => builds.pathNumber(project, name)));
  const files = new Map(names.map((name, i) => [name, numbers[i]!]));
  return new Map(
    recorded.flatMap(({ path, file, count }) => {
      const number = files.get(file) ?? null;
      return number === null ? [] : [[path, { file: number, count }]];
    }),
  );
}

/** Replaces the times of pieces in the runs of a build by those of their files. */
function replacePieces(runs: BuildTimes['runs'], pieces: ReadonlyMap<number, NumberedPiece>): void {
  const last = new Map<number, number>();
  for (const { paths, seconds } of runs) {
    for (let i = 0; i < paths.length; i++) {
      if (!pieces.has(paths[i]!)) continue;
      if (seconds[i]! > 0) last.set(paths[i]!, seconds[i]!);
      seconds[i] = 0;
    }
  }
  const files = joinPieces(Array.from(last, ([path, seconds]) => ({ ...pieces.get(path)!, seconds })));
  if (files.size > 0) runs.push({ paths: Uint32Array.from(files.keys()), seconds: Float64Array.from(files.values()), isCut: true });
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
  const table = { at: new Uint8Array(size), seconds: new Float64Array(size), isCut: new Uint8Array(size) };
  const ends = starts.slice(0, counts.length);
  for (const [at, { runs }] of read.entries()) {
    for (const { paths, seconds, isCut } of runs) {
      for (let i = 0; i < paths.length; i++) {
        if (!(seconds[i]! > 0)) continue;
        const file = paths[i]!;
        const isAgain = ends[file]! > starts[file]! && table.at[ends[file]! - 1] === at;
        const entry = isAgain ? ends[file]! - 1 : ends[file]!++;
        table.at[entry] = at;
        table.seconds[entry] = seconds[i]!;
        table.isCut[entry] = isCut ? 1 : 0;
      }
    }
  }
  return { builds: read.map(({ build }) => build), paths: Uint32Array.from(files.keys()), starts, ...table };
}
