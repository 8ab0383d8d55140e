import { endOfDay } from '../../../engine/insight/trends/days.js';
import { buildDigest } from '../../../engine/keys.js';
import { runsOf } from '../builds.js';
import { decodeSubset, subsetCount, subsetHead } from '../codecs/subset-codec.js';
import { willExpire } from '../deleted-projects.js';
import type { BuildRecord } from '../records.js';
import type { ExpiryKey, Tables } from '../tables.js';
import { type Problem, problemOf, type Seen } from './problem.js';

/** Problems of builds, their numbers and recorded runs. */
export function* problemsOfBuilds(tables: Tables, seen: Seen): Generator<Problem> {
  let last = 0;
  const expiring = expiringBuilds(tables);
  for (const { key: number, value: build } of tables.builds.getRange()) {
    seen('builds');
    last = number;
    yield* problemsOfBuild(tables, number, build, expiring[number] === 1);
  }
  if (last >= (tables.meta.get('nextBuild') ?? 1)) {
    yield { table: 'meta', key: 'nextBuild', what: `is not after build ${last}`, repair: () => tables.meta.put('nextBuild', last + 1) };
  }
  for (const { key, value: number } of tables.buildNumbers.getRange()) {
    const build = tables.builds.get(number);
    if (build && (build.id === key || buildDigest(build.project, build) === key)) continue;
    yield {
      table: 'buildNumbers',
      key,
      what: `leads to build ${number}, which is another build or does not exist`,
      repair: () => tables.buildNumbers.remove(key),
    };
  }
  yield* problemsOfSubsets(tables, seen);
}

function* problemsOfBuild(tables: Tables, number: number, build: BuildRecord, isExpiring: boolean): Generator<Problem> {
  const problem = problemOf('builds', number);
  if (!tables.projects.doesExist(build.project)) yield problem(`is of project ${build.project}, which does not exist`, null);
  for (const key of [build.id, buildDigest(build.project, build)]) {
    const named = tables.buildNumbers.get(key);
    if (named === undefined) yield problem(`is not found by ${key}`, () => tables.buildNumbers.put(key, number));
    else if (named !== number) yield problem(`is named ${key}, and so is build ${named}`, null);
  }
  let subsets = 0;
  let test_files = 0;
  let last = 0;
  let oldest = build.updated_at;
  for (const { value } of tables.subsets.getRange(runsOf(number))) {
    subsets += 1;
    try {
      test_files += subsetCount(value);
      const { ordinal, created_at } = subsetHead(value);
      last = Math.max(last, ordinal);
      oldest = Math.min(oldest, created_at);
    } catch {
      // The damage is reported with the runs. The sums cannot be compared.
      test_files = NaN;
    }
  }
  if (!isExpiring) yield problem('would never expire', () => tables.expiry.put([oldest, 'build', number], true));
  if (last > build.recorded)
    yield problem(`counts ${build.recorded} runs ever recorded, but has run ${last}`, () =>
      tables.builds.put(number, { ...build, recorded: last }),
    );
  if (subsets === 0) {
    yield problem('has no recorded run', async () => {
      await tables.summaries.remove(number);
      await tables.builds.remove(number);
    });
  } else if (Number.isInteger(test_files) && (subsets !== build.subsets || test_files !== build.test_files)) {
    const counted = `${subsets} runs with ${test_files} test files`;
    yield problem(`counts ${build.subsets} runs with ${build.test_files} test files, but has ${counted}`, () =>
      tables.builds.put(number, { ...build, subsets, test_files }),
    );
  }
}

function* problemsOfSubsets(tables: Tables, seen: Seen): Generator<Problem> {
  const isNamed = namedPaths(tables);
  for (const { key, value } of tables.subsets.getRange()) {
    seen('subsets');
    const problem = problemOf('subsets', key);
    const build = tables.builds.get(key[0]);
    if (!build) yield problem('is of a build that does not exist', null);
    let subset;
    try {
      subset = decodeSubset(value);
    } catch (error) {
      yield problem((error as Error).message, null);
      continue;
    }
    const lost = subset.paths.find(path => isNamed[path] !== 1);
    if (lost !== undefined) yield problem(`has path ${lost}, whose name is lost`, null);
  }
  for (const { key, value: runs } of tables.pendingRuns.getRange()) {
    const lost = runs.find(run => !tables.subsets.doesExist(run));
    if (!lost) continue;
    yield {
      table: 'pendingRuns',
      key,
      what: `has run ${lost.join('/')}, which does not exist`,
      repair: () =>
        tables.pendingRuns.put(
          key,
          runs.filter(run => tables.subsets.doesExist(run)),
        ),
    };
  }
}

/** Returns an array with 1 at the number of each build with an entry in `expiry`. */
function expiringBuilds(tables: Tables): Uint8Array {
  const [last = 0] = tables.builds.getKeys({ reverse: true, limit: 1 });
  const expiring = new Uint8Array(last + 1);
  for (const [, kind, number] of tables.expiry.getKeys()) if (kind === 'build') expiring[number as number] = 1;
  return expiring;
}

/** Returns an array with 1 at the number of each path that has a name. */
function namedPaths(tables: Tables): Uint8Array {
  const [last = 0] = tables.pathNames.getKeys({ reverse: true, limit: 1 });
  const named = new Uint8Array(last + 1);
  for (const path of tables.pathNames.getKeys()) named[path] = 1;
  return named;
}

/** Problems of summaries and days. A summary that is missing is none, because a list of builds has it written again. */
export function* problemsOfSummaries(tables: Tables, seen: Seen): Generator<Problem> {
  for (const key of tables.summaries.getKeys()) {
    seen('summaries');
    const repair = () => tables.summaries.remove(key);
    if (!tables.builds.doesExist(key)) yield { table: 'summaries', key, what: 'is of a build that does not exist', repair };
  }
  for (const key of tables.days.getKeys()) {
    seen('days');
    const [project, , day] = key;
    const remove = () => tables.days.remove(key);
    if (!tables.projects.doesExist(project)) {
      yield { table: 'days', key, what: `is of project ${project}, which does not exist`, repair: remove };
      continue;
    }
    const expiry: ExpiryKey = [endOfDay(day), 'day', ...key];
    if (!willExpire(tables, expiry))
      yield { table: 'days', key, what: 'would never expire', repair: () => tables.expiry.put(expiry, true) };
  }
}
