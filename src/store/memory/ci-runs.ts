import { buildDigest } from '../../engine/keys.js';
import type { CiRun, CiRuns } from '../../engine/ports/ci-runs.js';
import { limits } from '../../limits.js';
import type { Tables } from './tables.js';

export function memoryCiRuns({ ciRuns }: Tables): CiRuns {
  const newestFirst = (isListed: (run: CiRun) => boolean) =>
    [...ciRuns.values()].filter(isListed).sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
  return {
    get(project, id) {
      const run = ciRuns.get(id);
      return run?.project === project ? run : null;
    },
    list: (project, before, limit) => newestFirst(run => run.project === project && run.created_at < before).slice(0, limit),
    ofBuild(project, build) {
      const digest = buildDigest(project, build);
      return newestFirst(run => buildDigest(run.project, run) === digest).slice(0, limits.ciRunsPerBuild);
    },
  };
}
