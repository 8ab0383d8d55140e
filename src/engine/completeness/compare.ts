import { fileOf } from '../../planning/estimating/test-case.js';
import { isAfter, type Moment, type RecordingOrder } from '../moment.js';

/** A node that a file was handed to. */
export interface Assignment {
  node_index: number;
  /** Milliseconds since 1970; null: beforehand. */
  at: number | null;
  /** It told that it ran the file, as newer clients do, and that it did not fail. */
  ran: boolean;
  /** When the process that it was handed to began. */
  processBegan: Moment;
}

/** What was to be run: the files of a split or queue, each with whom it was handed to; nobody: it is still to be had. */
export type AssignmentsByPath = ReadonlyMap<string, readonly Assignment[]>;

/** What a node recorded at once; of a node in the order of recording. */
export interface RecordedRun extends RecordingOrder {
  node_index: number;
  paths: readonly string[];
  /** Of each; 0: scheduled, not measured. */
  seconds: Float64Array;
}

/** A node that came again, when, and whether it was given anything to run. */
export interface Restart {
  node_index: number;
  moment: Moment;
  isEmpty: boolean;
}

export type AssignedFile = Pick<Assignment, 'node_index' | 'at'> & { path: string };

export interface Comparison {
  /** Files that count as recorded. */
  recorded: number;
  neverHandedOut: string[];
  notRecorded: AssignedFile[];
  /** But the node told that it ran it. */
  ranNotRecorded: AssignedFile[];
  /** Those of these nodes that recorded nothing since their process began. */
  nodesWithoutRecording: number[];
  /** Nodes that came again and were given nothing to run, or recorded a run of nothing after one of something. */
  emptyReruns: number[];
  /** Nodes that came again, were given something, and recorded nothing since, where that is not told by `notRecorded`. */
  lostReruns: number[];
  /** By several nodes. */
  recordedTwice: { path: string; nodes: number[] }[];
  /** By a node that it was not handed to. */
  recordedByOthers: { path: string; node_index: number }[];
  /** With a time of 0 only. */
  notMeasured: string[];
  neverCame: number[];
}

/**
 * Compares what was handed out with what was recorded. A file and test cases in it stand for each other, because clients list
 * one and record the other; but not what was handed out itself.
 */
export function compare(
  handed: AssignmentsByPath,
  runs: readonly RecordedRun[],
  nodeTotal: number,
  returns: readonly Restart[] = [],
): Comparison {
  const nodesOf = new Map<string, Set<number>>();
  const measured = new Set<string>();
  for (const { node_index, paths, seconds } of runs) {
    for (const [i, path] of paths.entries()) {
      add(nodesOf, path, node_index);
      if (seconds[i]! > 0) measured.add(path);
    }
  }
  const isRecorded = recordedIn(handed, nodesOf);
  const runsOf = new Map<number, RecordedRun[]>();
  for (const run of runs) {
    const own = runsOf.get(run.node_index);
    if (own) own.push(run);
    else runsOf.set(run.node_index, [run]);
  }
  const hasRecorded = (node: number, since: Moment, atLeast = 0) =>
    (runsOf.get(node) ?? []).some(run => isAfter(run, since) && run.paths.length >= atLeast);
  const emptyReturns = returns
    .filter(({ node_index, moment, isEmpty }) => isEmpty && !hasRecorded(node_index, moment, 1))
    .map(({ node_index }) => node_index);
  const nodesWithoutRecording = new Set<number>();
  const neverHandedOut: string[] = [];
  const notRecorded: AssignedFile[] = [];
  const ranNotRecorded: AssignedFile[] = [];
  for (const [path, hands] of handed) {
    if (isRecorded(path)) continue;
    // The last one is who should have run it, unless somebody did.
    const hand = hands.findLast(({ ran }) => ran) ?? hands.at(-1);
    if (!hand) {
      neverHandedOut.push(path);
      continue;
    }
    const { node_index, at, ran, processBegan } = hand;
    (ran ? ranNotRecorded : notRecorded).push({ path, node_index, at });
    if (ran && !nodesWithoutRecording.has(node_index) && !hasRecorded(node_index, processBegan)) nodesWithoutRecording.add(node_index);
  }
  return {
    recorded: handed.size - neverHandedOut.length - notRecorded.length - ranNotRecorded.length,
    neverHandedOut,
    notRecorded,
    ranNotRecorded,
    nodesWithoutRecording: sorted(nodesWithoutRecording),
    emptyReruns: sorted(new Set([...emptyReturns, ...emptyReruns(runs)])),
    lostReruns: sorted(
      returns.filter(({ node_index, moment, isEmpty }) => !isEmpty && !hasRecorded(node_index, moment)).map(({ node_index }) => node_index),
    ).filter(node => !notRecorded.some(({ node_index }) => node_index === node)),
    recordedTwice: [...nodesOf].filter(([, nodes]) => nodes.size > 1).map(([path, nodes]) => ({ path, nodes: sorted(nodes) })),
    recordedByOthers: recordedByOthers(handed, nodesOf),
    notMeasured: [...nodesOf.keys()].filter(path => !measured.has(path)),
    neverCame: neverCame(handed, runs, nodeTotal),
  };
}

function recordedIn(handed: AssignmentsByPath, nodesOf: ReadonlyMap<string, ReadonlySet<number>>): (path: string) => boolean {
  /** Files of which a case was recorded that was not handed out itself. */
  const byCase = new Set<string>();
  for (const path of nodesOf.keys()) {
    const file = handed.has(path) ? null : fileOf(path);
    if (file !== null) byCase.add(file);
  }
  /** The nodes that were handed cases of a file. */
  const casesAt = new Map<string, Set<number>>();
  for (const [path, hands] of handed) {
    const file = fileOf(path);
    if (file !== null) for (const { node_index } of hands) add(casesAt, file, node_index);
  }
  return path => {
    if (nodesOf.has(path) || byCase.has(path)) return true;
    const file = fileOf(path);
    if (file === null || handed.has(file)) return false;
    // Whoever has only some cases of a file records with its name only those.
    const own = handed.get(path)!.map(({ node_index }) => node_index);
    return [...(nodesOf.get(file) ?? [])].some(node => own.includes(node) || !casesAt.get(file)?.has(node));
  };
}

function emptyReruns(runs: readonly RecordedRun[]): number[] {
  const last = new Map<number, { ranSome: boolean; isEmpty: boolean }>();
  for (const { node_index, paths } of runs) {
    const isEmpty = paths.length === 0;
    last.set(node_index, { ranSome: last.get(node_index)?.ranSome || !isEmpty, isEmpty });
  }
  return sorted([...last].filter(([, { ranSome, isEmpty }]) => ranSome && isEmpty).map(([node]) => node));
}

function recordedByOthers(
  handed: AssignmentsByPath,
  nodesOf: ReadonlyMap<string, ReadonlySet<number>>,
): { path: string; node_index: number }[] {
  const has = new Map<string, Set<number>>();
  for (const [path, hands] of handed) {
    for (const { node_index } of hands) {
      add(has, path, node_index);
      const file = fileOf(path);
      if (file !== null) add(has, file, node_index);
    }
  }
  return [...nodesOf].flatMap(([path, nodes]) =>
    sorted(nodes)
      .filter(node => !has.get(path)?.has(node) && !has.get(fileOf(path) ?? path)?.has(node))
      .map(node_index => ({ path, node_index })),
  );
}

/** Neither handed anything by a queue, nor did they record anything, be it that they ran nothing. */
function neverCame(handed: AssignmentsByPath, runs: readonly RecordedRun[], nodeTotal: number): number[] {
  const came = new Set(runs.map(({ node_index }) => node_index));
  for (const hands of handed.values()) for (const { node_index, at } of hands) if (at !== null) came.add(node_index);
  return Array.from({ length: nodeTotal }, (_, node) => node).filter(node => !came.has(node));
}

function add(nodes: Map<string, Set<number>>, key: string, node: number): void {
  const known = nodes.get(key);
  if (known) known.add(node);
  else nodes.set(key, new Set([node]));
}

function sorted(nodes: Iterable<number>): number[] {
  return [...nodes].sort((a, b) => a - b);
}
