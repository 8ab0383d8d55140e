import { timestamp } from '../../base/time.js';
import type { BuildHead } from '../../protocol/answers/build-head.js';
import type { NamedCiRun } from '../../protocol/messages/build.js';
import { uuidOf } from '../engine/builds.js';
import { type BuildKey, type ProjectBuild, shortDigest } from '../engine/keys.js';
import type { Build } from '../engine/ports/builds.js';
import type { CiRun } from '../engine/ports/ci-runs.js';
import type { Store } from '../engine/ports/store.js';
import { refusals } from '../engine/refusal.js';
import { countedNodes } from './timeline/counted-nodes.js';
import type { Timeline } from './timeline/timeline.js';

/** A CI run of a build, and what is known of it. */
export interface Subject {
  project: number;
  build: BuildKey;
  /** Null: nothing is recorded yet. */
  recorded: Build | null;
  /** Null: the build has no known queue or split, only recordings. */
  ciRun: CiRun | null;
  /** The next CI run of the build: later runs that name no CI run belong to that one; null: there is none. */
  next: CiRun | null;
  /** The CI runs of the build, newest first, at most `CI_RUNS_PER_BUILD`. */
  ciRuns: CiRun[];
}

/** The build and CI run of an answer. */
export function buildHead({ build, recorded, ciRun }: Subject, timeline: Timeline): BuildHead {
  const { kind, started_at, wall, paused, is_running, state } = timeline;
  return {
    build_id: recorded?.id ?? null,
    ci_run_id: ciRun?.id ?? null,
    ci_run: ciRun?.ci_run ?? null,
    kind,
    ...build,
    node_count: countedNodes(timeline).length,
    started_at: timestamp(started_at),
    ended_at: timestamp(Math.round(started_at + 1000 * (wall + paused))),
    is_running,
    state,
  };
}

/** A CI run as answers name it. */
export function namedCiRun({ id, ci_run, kind, created_at }: CiRun): NamedCiRun {
  return { ci_run_id: id, ci_run, kind, created_at: timestamp(created_at) };
}

/**
 * The subject with the id of a build or of a CI run, in upper or lower case. Throws a 404 when the project has neither.
 *
 * @param ci_run another CI run of the same build, by its id or by the one that the CI system gave it (the newest, if several have it);
 * undefined: the newest, or the one with the first id
 */
export async function findSubject(store: Store, project: number, id: string, ci_run?: string): Promise<Subject> {
  const uuid = uuidOf(id);
  const recorded = uuid === null ? null : await store.builds.get(project, uuid);
  const named = uuid === null || recorded ? null : await store.ciRuns.get(project, uuid);
  const build = recorded ?? named;
  if (!build) throw refusals.buildNotFound();
  return subjectOf(store, project, build, recorded, ci_run ?? named?.id);
}

/** The newest CI run of a build. */
export async function newestSubject(store: Store, build: ProjectBuild): Promise<Subject> {
  return subjectOf(store, build.project, build, null, undefined);
}

async function subjectOf(
  store: Store,
  project: number,
  { commit_hash, branch, node_total }: BuildKey,
  found: Build | null,
  id: string | undefined,
): Promise<Subject> {
  const build = { commit_hash, branch, node_total };
  const recorded = found ?? (await store.builds.find(project, build));
  const ciRuns = await store.ciRuns.ofBuild(project, build);
  const at = id === undefined ? 0 : indexOfCiRun(ciRuns, id);
  const ciRun = ciRuns[at] ?? null;
  if (!ciRun && id !== undefined) throw refusals.ciRunNotFound(id);
  return { project, build, recorded, ciRun, next: ciRuns[at - 1] ?? null, ciRuns };
}

function indexOfCiRun(ciRuns: readonly CiRun[], id: string): number {
  const at = ciRuns.findIndex(run => run.id === id.toLowerCase());
  // Answers cut a long id, and the digest is of the whole one.
  return at === -1 ? ciRuns.findIndex(({ ci_run, digest }) => ci_run === id || digest === shortDigest(id)) : at;
}
