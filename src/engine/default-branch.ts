import type { Project } from './ports/access.js';

/** Well-known names of default branches. */
const WELL_KNOWN = new Set(['main', 'master', 'trunk', 'mainline', 'develop', 'default']);

/**
 * The default branch of a project after a build of `branch` was created: the branch with the most builds among those with a
 * well-known name, or among all when none has one. One that was set stays.
 *
 * @param project with a default branch of null, the build is its first
 * @param builds returns how many builds a branch has, the new one included
 */
export function defaultBranchAfter(
  { default_branch: current, is_default_branch_set: isSet }: Pick<Project, 'default_branch' | 'is_default_branch_set'>,
  branch: string,
  builds: (branch: string) => number,
): string {
  if (current === null) return branch;
  if (isSet || branch === current) return current;
  const [isKnown, wasKnown] = [WELL_KNOWN.has(branch), WELL_KNOWN.has(current)];
  if (isKnown !== wasKnown) return isKnown ? branch : current;
  return builds(branch) > builds(current) ? branch : current;
}
