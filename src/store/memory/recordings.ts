import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeKey } from '../../engine/build-key.js';
import { defaultBranchAfter } from '../../engine/default-branch.js';
import { buildDigest } from '../../engine/keys.js';
import type { Build, Run } from '../../engine/ports/builds.js';
import type { NewRun, Recorded, Recordings } from '../../engine/ports/recordings.js';
import type { Millis } from '../../engine/ports/store.js';
import { outcomeOf } from '../../engine/recordings.js';
import { segment } from '../../engine/segments.js';
import type { Tables } from './tables.js';
import { measurePaths } from './timings.js';

export function memoryRecordings(tables: Tables): Recordings {
  return {
    async record(project, key, run, isRetry, at) {
      const value = record(tables, project, key, run, isRetry, at);
      await nextTurn();
      return { value, saved: null };
    },
  };
}

function record(tables: Tables, project: number, key: NodeKey, { ci_run, ...run }: NewRun, isRetry: boolean, at: Millis): Recorded {
  const digest = buildDigest(project, key);
  const known = tables.builds.get(digest);
  const runs = known ? tables.runs.get(known.number)! : [];
  const own = runs.filter(({ node_index }) => node_index === key.node_index);
  const last = own.at(-1);
  const paths = textsOf(run.paths);
  const seconds = Float64Array.from(run.seconds);
  const isSame = last?.ci_run === ci_run && areEqual(last.paths, paths) && areEqual(last.seconds, seconds);
  const outcome = outcomeOf(last ? { created_at: last.created_at, isSame, kept: own.length } : null, isRetry, at);
  if (outcome !== 'recorded') return outcome;

  const build = known ?? createBuild(tables, project, key, at);
  const ordinal = (tables.recorded.get(digest) ?? 0) + 1;
  const recorded: Run = {
    node_index: key.node_index,
    run: (last?.run ?? 0) + 1,
    id: randomUUID(),
    created_at: at,
    ordinal,
    ci_run,
    test_files: paths.length,
    paths,
    seconds,
  };
  tables.recorded.set(digest, ordinal);
  tables.runs.set(build.number, [...runs, recorded]);
  tables.builds.set(digest, {
    ...build,
    updated_at: Math.max(at, build.updated_at),
    recorded: ordinal,
    subsets: build.subsets + 1,
    test_files: build.test_files + paths.length,
  });
  measurePaths(tables, build, recorded);
  return 'recorded';
}

function createBuild(tables: Tables, project: number, { commit_hash, branch, node_total }: NodeKey, at: Millis): Build {
  const number = ++tables.buildsCreated;
  const build: Build = {
    id: descendingUuid(number),
    number,
    project,
    commit_hash,
    branch,
    node_total,
    created_at: at,
    updated_at: at,
    recorded: 0,
    subsets: 0,
    test_files: 0,
  };
  tables.builds.set(buildDigest(project, build), build);
  const owner = tables.projects.get(project)!;
  if (owner.is_default_branch_set) return build;
  const buildsOf = (name: string) => [...tables.builds.values()].filter(of => of.project === project && of.branch === name).length;
  tables.projects.set(project, { ...owner, default_branch: defaultBranchAfter(owner.default_branch, branch, buildsOf) });
  return build;
}

/** Builds of the same instant are listed by id, newest first, so the id of a later build is smaller. */
function descendingUuid(number: number): string {
  const head = (2 ** 48 - number).toString(16);
  return `${head.slice(0, 8)}-${head.slice(8)}${randomUUID().slice(13)}`;
}

function textsOf(texts: NewRun['paths']): string[] {
  return 'bytes' in texts ? Array.from(texts.ends, (_, i) => segment(texts, i).toString()) : [...texts];
}

function areEqual<T>(a: ArrayLike<T>, b: ArrayLike<T>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i]);
}
