import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildNode } from '../ci/identity.js';
import type { ToldByNode } from '../ci/told-by-node.js';
import { splitOrMissParser } from './answers.js';
import type { Api } from './api.js';

/**
 * State that `split` saves for `record`: the id of the split whose part the node ran, and the parameters to request it. A request without what the
 * node told would count as one of another process.
 */
interface SplitState extends BuildNode, ToldByNode {
  build_distribution_id: string;
  ci_build_id: string;
  fixed_test_suite_split: boolean;
  test_files_digest: string;
}

/** The server no longer has the split whose part this node ran. Other nodes get parts of another split. */
class SplitLost extends Error {
  readonly exitCode = 3;
}

/** Saves the split whose part the node runs in this folder. If saving fails, only the completeness gate detects a lost split. */
export function saveSplit(api: Api, state: SplitState): void {
  const path = statePath(api, state);
  try {
    const part = `${path}.${process.pid}`;
    writeFileSync(part, JSON.stringify(state), { mode: 0o600, flag: 'wx' });
    renameSync(part, path);
  } catch {
    deleteSplit(api, state);
  }
}

/** Deletes the saved split, because the node does not run a part of it. */
export function deleteSplit(api: Api, node: BuildNode): void {
  try {
    rmSync(statePath(api, node), { force: true });
  } catch {
    // A file of another user cannot be deleted, and is not read either.
  }
}

/** Returns the CI run that `split` saved for the node in this folder; null: it saved none for this commit. */
export function savedCiRun(api: Api, node: BuildNode): string | null {
  return loadState(api, node)?.ci_build_id ?? null;
}

/** Returns the reports that are older than the split. An earlier run wrote them, so this node did not run their tests. */
export function reportsOlderThanSplit(api: Api, node: BuildNode, list: string, reports: readonly string[]): string[] {
  const [splitAt, listedAt] = [modifiedAt(statePath(api, node)), modifiedAt(list)];
  // A list that is older than the split belongs to another split.
  if (splitAt === null || listedAt === null || listedAt < splitAt) return [];
  return reports.filter(path => modifiedAt(path)! < splitAt);
}

/** Returns milliseconds since 1970; null: the path is not a file. */
function modifiedAt(path: string): number | null {
  try {
    const stats = statSync(path);
    return stats.isFile() ? stats.mtimeMs : null;
  } catch {
    return null;
  }
}

/** Throws SplitLost if the server no longer has the split of this node. Sends no request if `split` saved no state here. */
export async function assertSplitExists(api: Api, node: BuildNode): Promise<void> {
  const state = loadState(api, node);
  if (state === null) return;
  const { build_distribution_id: savedId, ...split } = state;
  const answer = await api.post(
    '/v1/build_distributions/subset',
    { ...split, cache_read_attempt: true },
    splitOrMissParser(node.node_index, split.test_files_digest),
  );
  if ('build_distribution_id' in answer && answer.build_distribution_id === savedId) return;
  throw new SplitLost(
    `the server no longer has the split that this node ran a part of (${savedId}): its data was lost or restored. ` +
      'Other nodes got parts of another split, so some test files may not have run: run all nodes of this CI run again',
  );
}

/** Returns the state that `split` saved for this commit; null: it saved none that can be used. */
function loadState(api: Api, node: BuildNode): SplitState | null {
  try {
    const path = statePath(api, node);
    // Any user may write to the folder for temporary files; on Windows each has one of their own.
    if (process.getuid && statSync(path).uid !== process.getuid()) return null;
    const state = JSON.parse(readFileSync(path, 'utf8')) as SplitState | null;
    const isSameNode = (['commit_hash', 'branch', 'node_index', 'node_total'] as const).every(name => state?.[name] === node[name]);
    const isComplete = [state?.build_distribution_id, state?.ci_build_id, state?.test_files_digest].every(text => typeof text === 'string');
    return isSameNode && isComplete ? state : null;
  } catch {
    return null;
  }
}

/** One file per node and working folder, for all commits. */
function statePath({ options: { url, token } }: Api, { node_index, node_total }: BuildNode): string {
  const key = JSON.stringify([process.cwd(), url, token, node_index, node_total]);
  return join(tmpdir(), `ballast-split-${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`);
}
