import { fileOf } from '../plan/times/test-case.js';

/** A node that a file was handed to, and when in milliseconds since 1970; null: beforehand. */
export interface Hand {
  node_index: number;
  at: number | null;
}

/** What was to be run: the files of a split or queue, each with whom it was handed to; nobody: it is still to be had. */
export type Handed = ReadonlyMap<string, readonly Hand[]>;

/** What a node recorded. */
export interface Run {
  node_index: number;
  paths: readonly string[];
}

export interface Completeness {
  /** Files that any node recorded. */
  recorded: number;
  neverHandedOut: string[];
  notRecorded: (Hand & { path: string })[];
  recordedTwice: { path: string; nodes: number[] }[];
  notHandedOut: { path: string; node_index: number }[];
  neverCame: number[];
}

/**
 * Compares what was handed out with what was recorded. A file and its test cases stand for each other: clients list one and
 * record the other.
 */
export function compare(handed: Handed, runs: readonly Run[], nodeTotal: number): Completeness {
  const nodesOf = new Map<string, Set<number>>();
  for (const { node_index, paths } of runs) for (const path of paths) add(nodesOf, path, node_index);
  /** Files of which a case was recorded. */
  const nodesOfCases = new Map<string, Set<number>>();
  for (const [path, nodes] of nodesOf) {
    const file = fileOf(path);
    if (file !== null) for (const node of nodes) add(nodesOfCases, file, node);
  }
  const neverHandedOut: string[] = [];
  const notRecorded: (Hand & { path: string })[] = [];
  for (const [path, hands] of handed) {
    if (nodesOf.has(path) || nodesOfCases.has(path) || nodesOf.has(fileOf(path) ?? path)) continue;
    if (hands.length === 0) neverHandedOut.push(path);
    // The last one is who should have run it.
    else notRecorded.push({ path, ...hands.at(-1)! });
  }
  return {
    recorded: handed.size - neverHandedOut.length - notRecorded.length,
    neverHandedOut,
    notRecorded,
    recordedTwice: [...nodesOf].filter(([, nodes]) => nodes.size > 1).map(([path, nodes]) => ({ path, nodes: sorted(nodes) })),
    notHandedOut: notHandedOut(handed, nodesOf),
    neverCame: neverCame(handed, runs, nodeTotal),
  };
}

function notHandedOut(handed: Handed, nodesOf: ReadonlyMap<string, ReadonlySet<number>>): { path: string; node_index: number }[] {
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
function neverCame(handed: Handed, runs: readonly Run[], nodeTotal: number): number[] {
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
