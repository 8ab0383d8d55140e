import { limits } from '../../protocol/limits.js';
import { expandLink } from '../../protocol/link-template.js';
import type { ProjectSettings } from '../../protocol/project-settings.js';
import type { Store } from '../engine/ports/store.js';
import type { Subject } from './subject.js';

/** Addresses of a build on other sites. A null address is not known. */
export interface BuildLinks {
  commit_url: string | null;
  /** Changes since `previous`. */
  diff_url: string | null;
  /** The newest build of the branch before this one that is of another commit; null: there is none. */
  previous: PreviousBuild | null;
  /** The page of the CI job of a node. */
  jobUrl(node_index: number): string | null;
}

export interface PreviousBuild {
  build_id: string;
  commit_hash: string;
}

/** So many builds of one commit, with other numbers of nodes, are passed over. */
const BUILDS_OF_COMMIT = 10;

/** The addresses of a CI run: by the templates that operators set for the project, or else as its nodes sent them. */
export async function linksOf(store: Store, subject: Subject, settings: ProjectSettings): Promise<BuildLinks> {
  const { build, ciRun } = subject;
  const sent = new Map(
    (ciRun && !settings.job_url ? await store.ciRuns.nodes(ciRun.id) : []).map(({ node_index, job_url }) => [node_index, job_url]),
  );
  const previous = await previousBuild(store, subject);
  const commit = build.commit_hash;
  const expand = (template: string | null | undefined, values: Record<string, string | null>) =>
    template ? expandLink(template, values) : null;
  // A longer id is not known whole.
  const ci_run = ciRun && ciRun.ci_run.length < limits.ciRunCharacters ? ciRun.ci_run : null;
  return {
    commit_url: expand(settings.commit_url ?? ciRun?.links?.commit_url, { commit }),
    diff_url: expand(settings.diff_url ?? ciRun?.links?.diff_url, { before: previous?.commit_hash ?? null, commit }),
    previous,
    jobUrl: node_index =>
      settings.job_url
        ? expand(settings.job_url, { ci_run, node_index: String(node_index), commit, branch: build.branch })
        : expand(sent.get(node_index), {}),
  };
}

async function previousBuild({ builds }: Store, { project, build, recorded }: Subject): Promise<PreviousBuild | null> {
  const before = await builds.list(project, { branch: build.branch }, { before: recorded?.number ?? null, limit: BUILDS_OF_COMMIT });
  const found = before.find(({ commit_hash }) => commit_hash !== build.commit_hash);
  return found ? { build_id: found.id, commit_hash: found.commit_hash } : null;
}
