import type { SimilarNames } from '../../../protocol/answers/trends.js';
import { newestBuild } from '../../engine/builds.js';
import { type BuildFilter, type BuildKey, matches } from '../../engine/keys.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { UNRECORDED_RUNS_SEARCHED } from './build-lines.js';

/** The newest builds that are searched for a part of a name, and the most names that are answered. */
const NAMES_SEARCHED = 2000;
const SIMILAR_NAMES = 10;

/**
 * The names that a filter may mean if it finds no build, because a store finds only whole names: branches that contain its branch, and
 * commits that begin with its hash, among the newest builds that match the rest of it. Null: builds have each of its names.
 */
export async function similarNames(
  { builds, ciRuns }: Pick<Store, 'builds' | 'ciRuns'>,
  { project, filter, now }: { project: number; filter: BuildFilter; now: Millis },
): Promise<SimilarNames | null> {
  const { branch, commit_hash } = filter;
  const isKnown = async (name: BuildFilter) => (await newestBuild(builds, project, name)) !== null;
  const part = branch === undefined || (await isKnown({ branch })) ? null : branch.toLowerCase();
  const start = commit_hash === undefined || (await isKnown({ commit_hash })) ? null : commit_hash.toLowerCase();
  if (part === null && start === null) return null;
  const rest = { ...filter };
  if (part !== null) delete rest.branch;
  if (start !== null) delete rest.commit_hash;
  const branches = new Set<string>();
  const hashes = new Set<string>();
  const note = (key: BuildKey) => {
    if (part !== null && key.branch.toLowerCase().includes(part)) branches.add(key.branch);
    if (start !== null && key.commit_hash.toLowerCase().startsWith(start)) hashes.add(key.commit_hash);
  };
  for (const ciRun of await ciRuns.list(project, now + 1, UNRECORDED_RUNS_SEARCHED)) if (matches(ciRun, rest)) note(ciRun);
  const newest = await builds.list(project, rest, { limit: NAMES_SEARCHED });
  for (const build of newest) note(build);
  const listed = (names: Set<string>) => [...names].slice(0, SIMILAR_NAMES);
  return {
    branches: part === null ? null : listed(branches),
    commit_hashes: start === null ? null : listed(hashes),
    searched: newest.length,
  };
}
