import type { Database } from 'lmdb';
import { endOfDay } from '../../../engine/days/days.js';
import { buildDigest } from '../../../engine/keys.js';
import { problemsOfQueue, problemsOfSplit } from '../../check/plans.js';
import { type Problem, type ProblemOf, problemOf } from '../../check/problem.js';
import { decodeFailures } from '../../codecs/failures.js';
import { pathKey, pathOfKey } from '../../codecs/path-keys.js';
import type { PartName } from '../../codecs/plan-parts.js';
import { fileCount, timesOf } from '../../codecs/run-times.js';
import { decodeTimings, encodeTimings } from '../../codecs/timing-codec.js';
import { newProject } from '../access.js';
import { countKeys, indexKeys, putCount } from '../build-index.js';
import { runsOf } from '../builds.js';
import { willExpire } from '../expiry/deleted-projects.js';
import type { Parts } from '../parts.js';
import { blocksIn, blocksOf, partOf } from '../plans/plans.js';
import { batchesOf } from '../plans/read-queue.js';
import type { BuildRecord, CasesKey, DayKey, ExpiryKey, ProjectRecord } from '../records.js';
import type { Tables } from '../tables.js';
import type { References } from './references.js';

/** Returns the problems of a record: what it should lead to, and what should lead to it. No repair removes a record that another leads to. */
export type Check<V, K> = (key: K, record: V, problem: ProblemOf, parts: Parts, references: References) => Iterable<Problem>;

type Checks = { [T in keyof Tables]?: Tables[T] extends Database<infer V, infer K> ? Check<V, K> : never };

/** By table, in the order in which problems are reported and repaired. */
export const checks: Checks = {
  *projects(id, { name, deleted_at }, problem, { projectNames }) {
    if (deleted_at !== undefined) return;
    const named = projectNames.get(name);
    if (named === undefined) yield problem(`is not found by its name "${name}"`, () => projectNames.put(name, id));
    else if (named !== id) yield problem(`has the name "${name}", and so has project ${named}`);
  },
  *projectNames(name, id, problem, { projects }) {
    const project = projects.get(id);
    if (project?.name === name) return;
    // The next build sets its default branch again.
    const lost: ProjectRecord = { name, created_at: Date.now(), ...newProject, has_test_cases: true };
    yield problem(`names project ${id}, which has another name or does not exist`, project ? null : () => projects.put(id, lost));
  },
  tokens: secret(null),
  // Who loses one only signs in again.
  links: secret('links'),
  sessions: secret('sessions'),
  *builds(number, build, problem, parts, references) {
    if (!parts.projects.doesExist(build.project)) yield problem(`is of project ${build.project}, which does not exist`);
    for (const key of [build.id, buildDigest(build.project, build)]) {
      const named = parts.buildNumbers.get(key);
      if (named === undefined) yield problem(`is not found by ${key}`, () => parts.buildNumbers.put(key, number));
      else if (named !== number) yield problem(`is named ${key}, and so is build ${named}`);
    }
    for (const key of indexKeys(build.project, build, number)) {
      const repair = () => parts.buildIndex.put(key, true);
      if (!parts.buildIndex.doesExist(key)) yield problemOf('buildIndex', key)(`does not lead to build ${number}`, repair);
      const [filter] = key;
      if (parts.buildCounts.doesExist(filter)) continue;
      yield problemOf('buildCounts', filter)('is missing', () => recount(parts, filter));
    }
    yield* problemsOfRuns(parts, number, build, references.expiring().has(number), problem);
  },
  *buildNumbers(key, number, problem, { builds, buildNumbers }) {
    const build = builds.get(number);
    if (build && (build.id === key || buildDigest(build.project, build) === key)) return;
    yield problem(`leads to build ${number}, which is another build or does not exist`, () => buildNumbers.remove(key));
  },
  *subsets(key, run, problem, { builds }, references) {
    if (!builds.doesExist(key[0])) yield problem('is of a build that does not exist');
    try {
      const lost = timesOf(run).paths.find(path => !references.namedPaths().has(path));
      if (lost !== undefined) yield problem(`has path ${lost}, whose name is lost`);
    } catch (error) {
      yield problem((error as Error).message);
    }
  },
  *pendingRuns(key, runs, problem, { subsets, pendingRuns }) {
    const left = runs.filter(run => subsets.doesExist(run));
    const lost = runs.find(run => !left.includes(run));
    if (lost) yield problem(`has run ${lost.join('/')}, which does not exist`, () => pendingRuns.put(key, left));
  },
  *buildIndex(key, _, problem, { builds, buildIndex }) {
    const [filter, number] = key;
    const build = builds.get(number);
    if (build && indexKeys(build.project, build, number).some(([own]) => own === filter)) return;
    yield problem(`leads to build ${number}, which is another build or does not exist`, () => buildIndex.remove(key));
  },
  *buildCounts(filter, count, problem, parts) {
    const keys = countKeys(parts, filter);
    if (keys !== count) yield problem(`is ${count}, and the filter has ${keys} builds`, () => recount(parts, filter));
  },
  *paths(key, number, problem, { pathNames, timings }) {
    const { project, path } = pathOfKey(key);
    const name = pathNames.get(number);
    if (name === undefined) {
      const repair = path === null ? null : () => pathNames.put(number, JSON.stringify(path));
      yield problem(`has number ${number}, which has no name`, repair);
    } else if (pathKey(project, JSON.parse(name) as string) !== key) {
      yield problem(`has number ${number}, which has the name ${name}`);
    }
    if (timings.doesExist(number)) return;
    // The repair treats it as a new path, because its times are lost.
    const unmeasured = encodeTimings({ project, seen_at: Date.now(), timings: [] });
    yield problem(`has number ${number}, which has no timings`, () => timings.put(number, unmeasured));
  },
  *pathNames(number, _, problem, { timings }, references) {
    if (!references.pathNumbers().has(number) && !timings.doesExist(number)) yield problem('would never expire');
  },
  *timings(number, bytes, problem, { projects, paths, pathNames, timings }, references) {
    const { project } = decodeTimings(bytes);
    if (!projects.doesExist(project)) yield problem(`is of project ${project}, which does not exist`);
    const name = pathNames.get(number);
    if (name === undefined) {
      // Without a path and a name, nothing can find it.
      if (!references.pathNumbers().has(number)) yield problem('is of no path', () => timings.remove(number));
      return;
    }
    const key = pathKey(project, JSON.parse(name) as string);
    const known = paths.get(key);
    if (known === undefined) yield problem(`is not found by its path ${name}`, () => paths.put(key, number));
    else if (known !== number) yield problem(`is of the path ${name}, which has number ${known}`);
  },
  *splits(key, split, problem, parts, references) {
    if (!references.expiring().has(split.id)) yield unending(parts, problem, [split.used_at, 'split', key, split.id]);
    if (!parts.forecasts.doesExist(split.id)) yield problem('has no forecast');
    yield* problemsOfSplit({ ...split, ...planOf(parts, split.id) }, problem);
  },
  *queuesOfNodeBuild(key, id, problem, { queues, queuesOfNodeBuild }, references) {
    const queue = queues.get(id);
    if (!queue) yield problem(`leads to queue ${id}, which does not exist`, () => queuesOfNodeBuild.remove(key));
    else if (references.keysOfQueues().get(id) !== key || (!queue.copied && queue.name !== key))
      yield problem(`leads to queue ${id}, which belongs to another key`);
  },
  *queues(id, queue, problem, parts, references) {
    const key = references.keysOfQueues().get(id);
    if (key === undefined) {
      const find = () => parts.queuesOfNodeBuild.ifNoExists(queue.name, () => void parts.queuesOfNodeBuild.put(queue.name, id));
      // No other record has the key of a copy.
      yield problem('is found by no request', queue.copied ? null : find);
    }
    if (!references.expiring().has(id)) yield unending(parts, problem, [queue.used_at, 'queue', id, key ?? queue.name]);
    if (!parts.forecasts.doesExist(id)) yield problem('has no forecast');
    const plan = { ...queue, ...planOf(parts, id), blocks: blocksOf(parts, id) };
    yield* problemsOfQueue({ ...plan, batches: () => batchesOf(parts, id) }, problem);
  },
  *queuesOfBuild(key, id, problem, { queues, queuesOfBuild }) {
    if (queues.get(id)?.build === key) return;
    yield problem(`leads to queue ${id}, which belongs to another build or does not exist`, () => queuesOfBuild.remove(key));
  },
  *ciRuns(key, run, problem, parts) {
    const [project, created_at, id] = key;
    const found = parts.ciRunKeys.get(id);
    if (!found) yield problem('is not found by its id', () => parts.ciRunKeys.put(id, [project, created_at]));
    else if (found[0] !== project || found[1] !== created_at) yield problem('has the id of another CI run', () => parts.ciRuns.remove(key));
    const ofBuild: [string, number, string] = [buildDigest(project, run), created_at, id];
    if (!parts.ciRunsOfBuild.doesExist(ofBuild))
      yield problem('is not found by its build', () => parts.ciRunsOfBuild.put(ofBuild, project));
    const ofTree = run.tree !== undefined && ([project, run.tree, created_at, id] satisfies [number, string, number, string]);
    if (ofTree && !parts.ciRunsOfTree.doesExist(ofTree))
      yield problem('is not found by its tree', () => parts.ciRunsOfTree.put(ofTree, true));
    const entry: ExpiryKey = [created_at, 'ci_run', id];
    if (!willExpire(parts, entry)) yield unending(parts, problem, entry);
  },
  *ciRunKeys(id, key, problem, { ciRuns, ciRunKeys }) {
    if (!ciRuns.doesExist([...key, id])) yield problem('leads to a CI run that does not exist', () => ciRunKeys.remove(id));
  },
  *ciRunsOfBuild(key, project, problem, { ciRuns, ciRunsOfBuild }) {
    const [build, created_at, id] = key;
    const run = ciRuns.get([project, created_at, id]);
    if (run && buildDigest(project, run) === build) return;
    yield problem('leads to a CI run that does not exist', () => ciRunsOfBuild.remove(key));
  },
  *ciRunsOfTree(key, _, problem, { ciRuns, ciRunsOfTree }) {
    const [project, tree, created_at, id] = key;
    if (ciRuns.get([project, created_at, id])?.tree !== tree)
      yield problem('leads to no CI run of the tree', () => ciRunsOfTree.remove(key));
  },
  *nodes(key, _, problem, { nodes }, references) {
    if (!references.ciRuns().has(key[0])) yield problem('is of a CI run that does not exist', () => nodes.remove(key));
  },
  *spared(key, _, problem, { spared }, references) {
    if (!references.ciRuns().has(key[0])) yield problem('is of a CI run that does not exist', () => spared.remove(key));
  },
  *unrecorded(key, _, problem, { ciRuns, unrecorded }) {
    if (!ciRuns.doesExist(key)) yield problem('is of a CI run that does not exist', () => unrecorded.remove(key));
  },
  *forecasts(owner, _, problem, { forecasts }, references) {
    if (!references.exists(owner, 'split or queue')) yield problem('is of no split or queue', () => forecasts.remove(owner));
  },
  // A summary that is missing is no problem, because a list of builds has it written again.
  *summaries(number, _, problem, { builds, summaries }) {
    if (!builds.doesExist(number)) yield problem('is of a build that does not exist', () => summaries.remove(number));
  },
  *failures(key, bytes, problem, { builds, failures }) {
    const [project, number] = key;
    if (builds.get(number)?.project !== project) yield problem('is of a build that does not exist', () => failures.remove(key));
    else decodeFailures(bytes);
  },
  *days(key, _, problem, parts) {
    const [project, , day] = key;
    if (!parts.projects.doesExist(project)) {
      yield problem(`is of project ${project}, which does not exist`, () => parts.days.remove(key));
      return;
    }
    const entry: ExpiryKey = [endOfDay(day), 'day', ...key];
    if (!willExpire(parts, entry)) yield unending(parts, problem, entry);
  },
  *deliveries([state, project, key], _, problem, { projects, deliveries }) {
    const remove = () => deliveries.remove([state, project, key]);
    if (!projects.doesExist(project)) yield problem(`is of project ${project}, which does not exist`, remove);
  },
  *cases(key, { at }, problem, parts, references) {
    const [project] = key;
    if (!parts.projects.doesExist(project)) yield problem(`is of project ${project}, which does not exist`, () => parts.cases.remove(key));
    else if (!references.expiring().has(key.join(' '))) yield unending(parts, problem, [at, 'cases', ...key]);
  },
  *expiry(entry, _, problem, { builds, days, expiry, ciRunKeys, cases }) {
    const [, kind, ...key] = entry;
    const owners: Record<string, () => boolean> = {
      build: () => builds.doesExist(key[0] as number),
      ci_run: () => ciRunKeys.doesExist(key[0] as string),
      day: () => days.doesExist(key as DayKey),
      // What they left behind expires by this entry.
      split: () => true,
      queue: () => true,
      cases: () => cases.doesExist(key as CasesKey),
    };
    const exists = owners[kind];
    if (!exists) yield problem('has an unknown kind');
    else if (!exists()) yield problem('is of something that does not exist', () => expiry.remove(entry));
  },
};

/** A record that is found by its hash, and belongs to a project; null: to none. */
function secret(table: 'links' | 'sessions' | null): Check<{ hash: string; project: number | null }, string> {
  return function* (key, { hash, project }, problem, parts) {
    const repair = table && (() => parts[table].remove(key));
    if (!hash.startsWith(key)) yield problem('is not the beginning of its hash', repair);
    if (project !== null && !parts.projects.doesExist(project)) yield problem(`is of project ${project}, which does not exist`, repair);
  };
}

function recount(parts: Parts, filter: string): Promise<unknown> {
  return putCount(parts, filter, countKeys(parts, filter));
}

function planOf(parts: Parts, id: string) {
  return { id, readBlock: blocksIn(parts, id), part: <Name extends PartName>(name: Name) => partOf(parts, id, name) };
}

function unending({ expiry }: Parts, problem: ProblemOf, entry: ExpiryKey): Problem {
  return problem('would never expire', () => expiry.put(entry, true));
}

/** Problems of what a build counts of its runs. */
function* problemsOfRuns(tables: Tables, number: number, build: BuildRecord, isExpiring: boolean, problem: ProblemOf): Generator<Problem> {
  const { builds, subsets, summaries, failures, expiry } = tables;
  let [runs, test_files, last, oldest] = [0, 0, 0, build.updated_at];
  for (const { value: run } of subsets.getRange(runsOf(number))) {
    runs += 1;
    test_files += fileCount(run);
    last = Math.max(last, run.ordinal);
    oldest = Math.min(oldest, run.created_at);
  }
  if (!isExpiring) yield problem('would never expire', () => expiry.put([oldest, 'build', number], true));
  if (last > build.recorded)
    yield problem(`counts ${build.recorded} runs ever recorded, but has run ${last}`, () =>
      builds.put(number, { ...build, recorded: last }),
    );
  if (runs === 0) {
    yield problem('has no recorded run', async () => {
      await summaries.remove(number);
      await failures.remove([build.project, number]);
      await builds.remove(number);
    });
    return;
  }
  // The damage of a run is reported with it. The sums cannot be compared.
  if (!Number.isInteger(test_files) || (runs === build.subsets && test_files === build.test_files)) return;
  yield problem(
    `counts ${build.subsets} runs with ${build.test_files} test files, but has ${runs} runs with ${test_files} test files`,
    () => builds.put(number, { ...build, subsets: runs, test_files }),
  );
}
