import { parseSearch } from '../text/search.js';
import { FAILED, FLAKY, type Lane, MISSING, OVER, REPEATED } from './lanes.js';

/** Words of a search in the files of a build. A word alone is a part of a path. */
const FILE_WORDS = {
  node: { kind: 'number', about: 'the number of a node' },
  failed: { kind: 'flag', about: 'only failed files' },
  flaky: { kind: 'flag', about: 'only files that failed, and passed when they ran again' },
  over: { kind: 'flag', about: 'only files over their estimate' },
  missing: { kind: 'flag', about: 'only files that were not recorded' },
  repeated: { kind: 'flag', about: 'only files that a node had twice' },
} as const;

export interface RunFilter {
  /** Null: all nodes. */
  node: number | null;
  /** Flags of lanes.ts that a run must have. */
  flags: number;
  /** Parts of the path, in lower case. */
  words: string[];
  problems: string[];
}

/** Reads a search for files of a build. */
export function parseFilter(text: string): RunFilter {
  const { filters, words, problems } = parseSearch(text, FILE_WORDS);
  const flags =
    (filters.failed === undefined ? 0 : FAILED) |
    (filters.flaky === undefined ? 0 : FLAKY) |
    (filters.over === undefined ? 0 : OVER) |
    (filters.missing === undefined ? 0 : MISSING) |
    (filters.repeated === undefined ? 0 : REPEATED);
  return { node: filters.node === undefined ? null : Number(filters.node), flags, words: words.map(word => word.toLowerCase()), problems };
}

/** Reports whether a search leaves anything out. */
export function isFiltering({ node, flags, words }: RunFilter): boolean {
  return node !== null || flags !== 0 || words.length > 0;
}

/** Returns which paths have all words. */
export function matchPaths(paths: readonly string[], { words }: RunFilter): Uint8Array {
  return Uint8Array.from(paths, path => {
    const text = words.length > 0 ? path.toLowerCase() : '';
    return words.every(word => text.includes(word)) ? 1 : 0;
  });
}

/** Returns a lane with only the runs that a search finds. `isMatch`: by path, of matchPaths. */
export function filterLane(lane: Lane, filter: RunFilter, isMatch: Uint8Array): Lane {
  const isNode = filter.node === null || filter.node === lane.node;
  const runs = lane.file.reduce<number[]>((runs, file, run) => {
    if (isNode && isMatch[file] && (lane.flags[run]! & filter.flags) === filter.flags) runs.push(run);
    return runs;
  }, []);
  const pick = <Column extends { [run: number]: number }>(column: Column) => runs.map(run => column[run]!);
  return {
    ...lane,
    from: Float64Array.from(pick(lane.from)),
    to: Float64Array.from(pick(lane.to)),
    expected: Float64Array.from(pick(lane.expected)),
    seconds: Float64Array.from(pick(lane.seconds)),
    file: Uint32Array.from(pick(lane.file)),
    flags: Uint8Array.from(pick(lane.flags)),
    batch: Uint32Array.from(pick(lane.batch)),
  };
}
