import { timestamp } from '../../../base/time.js';
import type { CompletenessAnswer, HandedOut } from '../../../protocol/answers/completeness.js';
import { filesAmong, pieceOf } from '../../../protocol/piece-path.js';
import { fileOf } from '../../../protocol/test-case.js';
import { isAfter, type Moment } from '../moment.js';
import type { Run } from '../ports/builds.js';
import { hasRun } from '../test-file.js';

/** A node that a file was handed to. */
export interface Assignment {
  node_index: number;
  /** Milliseconds since 1970; null: a split, which assigns its files in advance. */
  at: number | null;
  /** The node acknowledged that it ran the file without a failure. */
  ran: boolean;
  /** The node reported that the file failed, and was not cancelled. */
  hasFailed: boolean;
  /** The file had failed before, and was retried. */
  isRetry?: true;
  /** When the process that got the file began. */
  processBegan: Moment;
}

/** The files of a split or queue, each with its assignments. Without any, the file is still in the queue. */
export type AssignmentsByPath = ReadonlyMap<string, readonly Assignment[]>;

/** A run that a node recorded. The runs of a node come in the order of recording. */
export type RecordedRun = Pick<Run, 'ordinal' | 'node_index' | 'paths' | 'seconds'>;

/** A restart of a node. */
export interface Restart {
  node_index: number;
  moment: Moment;
  /** The node was handed no file. */
  isEmpty: boolean;
}

/** The lists of an answer in full, and what its sentences need. */
export interface Comparison
  extends Pick<
    CompletenessAnswer,
    | 'test_files'
    | 'recorded'
    | 'never_handed_out'
    | 'handed_out_not_recorded'
    | 'ran_not_recorded'
    | 'recorded_twice'
    | 'recorded_not_handed_out'
    | 'recorded_without_time'
    | 'nodes_came'
    | 'nodes_never_came'
  > {
  /** The nodes of `ran_not_recorded` that recorded nothing since their process began. */
  nodesWithoutRecording: number[];
  /** The same of `handed_out_not_recorded`. */
  silentNodes: number[];
  /** Nodes that restarted and ran nothing: they were handed no file, or recorded an empty run after one with files. */
  emptyReruns: number[];
  /** Nodes that restarted, were handed files, and recorded nothing since. Nodes of `handed_out_not_recorded` are left out. */
  lostReruns: number[];
}

/** Nearly every path has one node: a set for each takes most of the time of a comparison. */
type Nodes = number | Set<number>;
type NodesByPath = ReadonlyMap<string, Nodes>;
type RunsByNode = ReadonlyMap<number, readonly RecordedRun[]>;
type RunsOfPieces = ReadonlyMap<string, readonly RecordedRun[]>;

/**
 * Compares the files that were handed out with those that were recorded. Clients may list a file and record its test cases, or the
 * reverse. So each counts as the other, unless both were handed out. A piece of a file never counts as the file.
 *
 * @param options.hasPieces see Assigned
 * @param options.allowsEmpty see CompletenessSubject
 */
export function compare(
  handed: AssignmentsByPath,
  runs: readonly RecordedRun[],
  nodeTotal: number,
  {
    restarts = [],
    hasPieces = false,
    allowsEmpty = false,
  }: { restarts?: readonly Restart[]; hasPieces?: boolean; allowsEmpty?: boolean } = {},
): Comparison {
  const nodesByPath = new Map<string, Nodes>();
  const withoutTime = new Set<string>();
  const runsByNode = new Map<number, RecordedRun[]>();
  const runsOfPieces = new Map<string, RecordedRun[]>();
  for (const run of runs) {
    const { node_index, paths, seconds } = run;
    addRun(runsByNode, node_index, run);
    for (const [i, path] of paths.entries()) {
      add(nodesByPath, path, node_index);
      if (hasPieces && pieceOf(path) !== null) addRun(runsOfPieces, path, run);
      if (!hasRun(seconds[i]!)) withoutTime.add(path);
    }
  }
  if (withoutTime.size > 0)
    for (const { paths, seconds } of runs) for (const [i, path] of paths.entries()) if (hasRun(seconds[i]!)) withoutTime.delete(path);
  const missing = missingFiles(handed, nodesByPath, withoutTime, runsByNode, runsOfPieces);
  const { never_handed_out, handed_out_not_recorded, ran_not_recorded, recorded_without_time } = missing;
  const notAsRun = [...never_handed_out, ...handed_out_not_recorded, ...ran_not_recorded, ...(allowsEmpty ? [] : recorded_without_time)];
  const count = (paths: Iterable<string>) => (hasPieces ? filesAmong(paths) : new Set(paths).size);
  return {
    test_files: count(handed.keys()),
    recorded: count(handed.keys()) - count(notAsRun.map(({ path }) => path)),
    ...missing,
    emptyReruns: emptyReruns(runsByNode, restarts),
    lostReruns: lostReruns(runsByNode, restarts).filter(node => !handed_out_not_recorded.some(({ node_index }) => node_index === node)),
    recorded_twice: [...nodesByPath].flatMap(([path, nodes]) =>
      typeof nodes === 'number' || handed.get(path)?.some(({ isRetry }) => isRetry) ? [] : { path, node_indexes: sorted(nodes) },
    ),
    recorded_not_handed_out: recordedByOthers(handed, nodesByPath),
    ...comers(handed, runsByNode, nodeTotal),
  };
}

/** Returns the files that no node recorded as run, by their last known state. @param withoutTime paths that no run says ran */
function missingFiles(
  handed: AssignmentsByPath,
  nodesByPath: NodesByPath,
  withoutTime: ReadonlySet<string>,
  runsByNode: RunsByNode,
  runsOfPieces: RunsOfPieces,
): Omit<
  Comparison,
  | 'test_files'
  | 'recorded'
  | 'emptyReruns'
  | 'lostReruns'
  | 'recorded_twice'
  | 'recorded_not_handed_out'
  | 'nodes_came'
  | 'nodes_never_came'
> {
  const isRecorded = recordedTest(handed, nodesByPath, runsOfPieces);
  const ran = () => new Map([...nodesByPath].filter(([path]) => !withoutTime.has(path)));
  const isRun = withoutTime.size === 0 ? isRecorded : recordedTest(handed, ran(), runsOfPieces);
  const never_handed_out: { path: string }[] = [];
  const recorded_without_time: Comparison['recorded_without_time'] = [];
  const handed_out_not_recorded: HandedOut[] = [];
  const ran_not_recorded: Comparison['ran_not_recorded'] = [];
  const nodesWithoutRecording = new Set<number>();
  const silentNodes = new Set<number>();
  for (const [path, assignments] of handed) {
    if (isRun(path)) continue;
    // The last node should have run the file, unless another one did.
    const assignment = assignments.findLast(({ ran }) => ran) ?? assignments.at(-1);
    if (!assignment) {
      never_handed_out.push({ path });
      continue;
    }
    const { node_index, at, ran, processBegan } = assignment;
    if (isRecorded(path)) {
      recorded_without_time.push({ path, node_index });
      continue;
    }
    if (ran) ran_not_recorded.push({ path, node_index });
    else handed_out_not_recorded.push({ path, node_index, handed_out_at: at === null ? null : timestamp(at) });
    const silent = ran ? nodesWithoutRecording : silentNodes;
    if (!silent.has(node_index) && !hasRecorded(runsByNode.get(node_index), processBegan)) silent.add(node_index);
  }
  const nodes = { nodesWithoutRecording: sorted(nodesWithoutRecording), silentNodes: sorted(silentNodes) };
  return { never_handed_out, handed_out_not_recorded, recorded_without_time, ran_not_recorded, ...nodes };
}

/**
 * Returns a function that tests whether a path that was handed out counts as recorded. A piece does if a node recorded it that was handed
 * it, since its process began: an earlier queue of the CI run may have other cases in the piece with this name.
 */
function recordedTest(handed: AssignmentsByPath, nodesByPath: NodesByPath, runsOfPieces: RunsOfPieces): (path: string) => boolean {
  /** Files with a recorded test case that was not handed out itself. */
  const recordedByCase = new Set<string>();
  for (const path of nodesByPath.keys()) {
    // A piece that was not handed out is of an earlier queue of this CI run. That queue may have had pieces although this list has none, so the
    // form of the path decides. A test case with such a name then counts for no file: the gate may fail, but passes no file that did not run.
    const file = handed.has(path) || pieceOf(path) ? null : fileOf(path);
    if (file !== null) recordedByCase.add(file);
  }
  /** The nodes that were handed test cases of a file. */
  const nodesWithCases = new Map<string, Nodes>();
  for (const [path, assignments] of handed) {
    const file = fileOf(path);
    if (file !== null) for (const { node_index } of assignments) add(nodesWithCases, file, node_index);
  }
  return path => {
    const nodes = nodesByPath.get(path);
    const runs = runsOfPieces.get(path);
    const isOfOtherQueue = runs !== undefined && !handed.get(path)!.some(assignment => isRunOf(runs, assignment));
    if ((nodes !== undefined && !isOfOtherQueue) || recordedByCase.has(path)) return true;
    const file = fileOf(path);
    if (file === null || handed.has(file)) return false;
    // A node that was handed some cases of a file records only these under the name of the file.
    const assigned = handed.get(path)!.map(({ node_index }) => node_index);
    return nodesIn(nodesByPath.get(file)).some(node => assigned.includes(node) || !nodesIn(nodesWithCases.get(file)).includes(node));
  };
}

function emptyReruns(runsByNode: RunsByNode, restarts: readonly Restart[]): number[] {
  const nodes = new Set<number>();
  for (const [node, runs] of runsByNode) {
    if (runs.at(-1)!.paths.length === 0 && runs.some(({ paths }) => paths.length > 0)) nodes.add(node);
  }
  for (const { node_index, moment, isEmpty } of restarts) {
    const withFiles = runsByNode.get(node_index)?.filter(({ paths }) => paths.length > 0);
    if (isEmpty && !hasRecorded(withFiles, moment)) nodes.add(node_index);
  }
  return sorted(nodes);
}

function lostReruns(runsByNode: RunsByNode, restarts: readonly Restart[]): number[] {
  const lost = restarts.filter(({ node_index, moment, isEmpty }) => !isEmpty && !hasRecorded(runsByNode.get(node_index), moment));
  return sorted(lost.map(({ node_index }) => node_index));
}

function hasRecorded(runs: readonly RecordedRun[] | undefined, since: Moment): boolean {
  return runs?.some(run => isAfter(run, since)) ?? false;
}

function recordedByOthers(handed: AssignmentsByPath, nodesByPath: NodesByPath): Comparison['recorded_not_handed_out'] {
  const assigned = new Map<string, Nodes>();
  for (const [path, assignments] of handed) {
    for (const { node_index } of assignments) {
      add(assigned, path, node_index);
      const file = fileOf(path);
      if (file !== null) add(assigned, file, node_index);
    }
  }
  const others: Comparison['recorded_not_handed_out'] = [];
  for (const [path, nodes] of nodesByPath) {
    // Its only node was handed it.
    if (assigned.get(path) === nodes) continue;
    const expected = [...nodesIn(assigned.get(path)), ...nodesIn(assigned.get(fileOf(path) ?? path))];
    for (const node_index of sorted(nodesIn(nodes))) if (!expected.includes(node_index)) others.push({ path, node_index });
  }
  return others;
}

/** Returns the nodes that were handed a file of a queue or recorded a run, also an empty one, and the others. */
function comers(handed: AssignmentsByPath, runsByNode: RunsByNode, nodeTotal: number): Pick<Comparison, 'nodes_came' | 'nodes_never_came'> {
  const came = new Set(runsByNode.keys());
  for (const assignments of handed.values()) for (const { node_index, at } of assignments) if (at !== null) came.add(node_index);
  const others = Array.from({ length: nodeTotal }, (_, node) => node).filter(node => !came.has(node));
  return { nodes_came: sorted(came), nodes_never_came: others };
}

function add(nodesByPath: Map<string, Nodes>, path: string, node: number): void {
  const nodes = nodesByPath.get(path);
  if (nodes === undefined) nodesByPath.set(path, node);
  else if (typeof nodes !== 'number') nodes.add(node);
  else if (nodes !== node) nodesByPath.set(path, new Set([nodes, node]));
}

function addRun<Key>(runs: Map<Key, RecordedRun[]>, key: Key, run: RecordedRun): void {
  const ofKey = runs.get(key);
  if (ofKey) ofKey.push(run);
  else runs.set(key, [run]);
}

function isRunOf(runs: readonly RecordedRun[], { node_index, processBegan }: Assignment): boolean {
  return runs.some(run => run.node_index === node_index && isAfter(run, processBegan));
}

function nodesIn(nodes: Nodes | undefined): number[] {
  return nodes === undefined ? [] : typeof nodes === 'number' ? [nodes] : [...nodes];
}

function sorted(nodes: Iterable<number>): number[] {
  return [...nodes].sort((a, b) => a - b);
}
