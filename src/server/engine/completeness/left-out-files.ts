import { agree, pluralize } from '../../../base/plural.js';
import { abbreviate } from '../../../base/terminal.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import type { BuildKey } from '../keys.js';
import type { CiRun, NotedNode } from '../ports/ci-runs.js';
import type { Store } from '../ports/store.js';
import type { LeftOut } from '../suites/compare-lists.js';
import { type Assigned, nodesWithFiles } from './assigned.js';
import { doubtOfNodes, nodesOf, nodeWithOtherKeys, silentNode, type TreeAndKeys } from './checkouts.js';
import { type ProvedFile, provedFiles } from './proved-files.js';

/** The files that a queue left out, because other CI runs had proved them. */
export interface LeftOutFiles {
  /** Those that are still proved. */
  files: ReadonlyMap<string, ProvedFile>;
  /** The CI runs that prove them, newest first. */
  ciRuns: readonly CiRun[];
  /** Why not all of them are proved any more; null: they are. */
  doubt: string | null;
}

/** Looks once more at the CI runs that had proved the files which a queue left out. Null: it left out none. */
export async function leftOutFiles(store: Store, project: number, build: BuildKey, assigned: Assigned): Promise<LeftOutFiles | null> {
  const { list, id } = assigned.info;
  const { proved } = list;
  if (!proved) return null;
  const found = (await Promise.all(proved.ci_runs.map(each => store.ciRuns.get(project, each.ci_run_id)))).filter(each => each !== null);
  const { files, ciRuns, listed } = await provedFiles(store, found, list, proved);
  const own = new Set(Array.from(assigned.handed.keys(), path => (assigned.hasPieces ? fileOfPiece(path) : path)));
  const leftOut = [...listed].filter(path => !own.has(path));
  const still = new Map(leftOut.flatMap(path => (files.has(path) ? [[path, files.get(path)!]] : [])));
  const ciRun = (await store.ciRuns.ofBuild(project, build)).find(({ plan }) => plan === id);
  const doubt =
    (ciRun && doubtOfCheckouts(nodesWithFiles(assigned), await nodesOf(store, ciRun), proved)) ?? doubtOfFiles(proved, leftOut, still);
  return { files: still, ciRuns, doubt: doubt && `${leftOutText(proved)}, but ${doubt}; run the CI run again without --proved` };
}

/** @param came those that ran files of the queue: one in fallback ran them all */
function doubtOfCheckouts(came: Iterable<number>, nodes: readonly NotedNode[], at: TreeAndKeys): string | null {
  const other = nodeWithOtherKeys(nodes, at);
  if (other) return `node ${other.node_index} ran with another key`;
  return doubtOfNodes(nodes, at.tree) ?? silentNode(came, nodes);
}

function doubtOfFiles({ test_files }: LeftOut, leftOut: readonly string[], still: ReadonlyMap<string, ProvedFile>): string | null {
  if (still.size >= test_files) return null;
  const unproved = leftOut.filter(path => !still.has(path));
  return unproved.length > 0 ? `${abbreviate(unproved)} failed since` : 'not all of that is known any more';
}

function leftOutText({ test_files, ci_runs }: LeftOut): string {
  const names = abbreviate(ci_runs.map(({ ci_run }) => ci_run));
  const [were, them] = [agree(test_files, 'was', 'were'), agree(test_files, 'it', 'them')];
  return `${pluralize(test_files, 'test file')} ${were} left out, since CI ${agree(ci_runs.length, 'run', 'runs')} ${names} proved ${them}`;
}
