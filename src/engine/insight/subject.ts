import { uuidOf } from '../builds.js';
import { type BuildKey, UNNAMED_CI_RUN } from '../keys.js';
import { beginningOf, type Moment } from '../moment.js';
import type { Build } from '../ports/builds.js';
import type { CiRun } from '../ports/ci-runs.js';
import type { Store } from '../ports/store.js';

/** A CI run of a build, and what is known of it. */
export interface Subject {
  project: number;
  build: BuildKey;
  /** Null: nothing is recorded yet. */
  recorded: Build | null;
  /** Null: the build has no known queue or split, only recordings. */
  ciRun: SubjectRun | null;
  /** The CI runs of the build, newest first, at most `limits.ciRunsPerBuild`. */
  ciRuns: CiRun[];
}

/** What a timeline needs of a CI run. */
export interface SubjectRun extends Pick<CiRun, 'id' | 'kind' | 'plan'> {
  /** The id that the CI system gave it, cut. */
  ci_run: string;
  /** See CiRun; null: its clients sent no id, so runs of every CI run count. */
  digest: number | null;
  /** Only runs that were recorded after this moment count. */
  since: Moment;
  /** When the next CI run of the build began: later runs that name no CI run belong to that one; null: there is none. */
  next: Moment | null;
}

/**
 * The subject with the id of a build or of a CI run, in upper or lower case; null: the project has neither.
 *
 * @param ci_run the id of another CI run of the same build; undefined: the newest, or the one with the first id
 */
export async function findSubject(store: Store, project: number, id: string, ci_run?: string): Promise<Subject | null> {
  const uuid = uuidOf(id);
  if (uuid === null) return null;
  const recorded = await store.builds.get(project, uuid);
  const named = recorded ? null : await store.ciRuns.get(project, uuid);
  const build = recorded ?? named;
  return build && subjectOf(store, project, build, recorded, ci_run?.toLowerCase() ?? named?.id);
}

/** The newest CI run of a recorded build. */
export async function newestSubject(store: Store, build: Build): Promise<Subject> {
  return (await subjectOf(store, build.project, build, build, undefined))!;
}

async function subjectOf(
  store: Store,
  project: number,
  { commit_hash, branch, node_total }: BuildKey,
  found: Build | null,
  id: string | undefined,
): Promise<Subject | null> {
  const build = { commit_hash, branch, node_total };
  const recorded = found ?? (await store.builds.find(project, build));
  const ciRuns = await store.ciRuns.ofBuild(project, build);
  if (ciRuns.length === 0) return id === undefined ? { project, build, recorded, ciRun: null, ciRuns } : null;
  const at = id === undefined ? 0 : ciRuns.findIndex(run => run.id === id);
  const run = ciRuns[at];
  if (!run) return null;
  const { kind, plan, ci_run, digest } = run;
  const next = ciRuns[at - 1];
  const ciRun: SubjectRun = {
    ...{ id: run.id, kind, plan, ci_run },
    digest: ci_run === UNNAMED_CI_RUN ? null : digest,
    since: beginningOf(run),
    next: next ? beginningOf(next) : null,
  };
  return { project, build, recorded, ciRun, ciRuns };
}
