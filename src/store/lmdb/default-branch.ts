import { buildCount } from './build-index.js';
import type { Parts } from './open.js';

/** Names that say that a branch is what the others start from. */
const WELL_KNOWN = new Set(['main', 'master', 'trunk', 'mainline', 'develop', 'default']);

/** The branch that others start from, as far as the recorded builds tell; null before the first. */
export function defaultBranch(store: Parts, project: number): string | null {
  return store.projects.get(project)?.default_branch ?? null;
}

/**
 * Within a write transaction that adds a build of the branch: the default branch is the one with the most builds
 * among those of a well-known name, or among all when there is none such.
 */
export function noteBuild(store: Parts, project: number, branch: string): void {
  const record = store.projects.get(project);
  if (!record || record.default_branch === branch) return;
  const known = record.default_branch;
  const isBetter =
    known === null ||
    (WELL_KNOWN.has(branch) === WELL_KNOWN.has(known)
      ? buildCount(store, project, { branch }) > buildCount(store, project, { branch: known })
      : WELL_KNOWN.has(branch));
  if (isBetter) void store.projects.put(project, { ...record, default_branch: branch });
}
