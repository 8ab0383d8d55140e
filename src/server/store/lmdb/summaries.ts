import { countedOn, countOn, dayOf, emptyDay, endOfDay } from '../../engine/days/days.js';
import { buildDigest, digest, type ProjectBuild } from '../../engine/keys.js';
import type { Build } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { DaySummary, Summaries, Summary } from '../../engine/ports/summaries.js';
import type { Parts } from './parts.js';
import type { DayKey } from './records.js';
import type { Tables } from './tables.js';
import { commit } from './writes/commit.js';

/** The key of all branches together. */
const ALL = '';

export function lmdbSummaries(parts: Parts) {
  const { summaries, days, unrecorded, ciRuns } = parts;
  return {
    get: (build: number) => summaries.get(build) ?? null,
    ofBuilds: (builds: readonly number[]) => builds.map(build => summaries.get(build) ?? null),
    put: (build, summary) => commit(parts, () => putSummary(parts, build, summary)),
    ofUnrecorded: ({ project, created_at, id }: CiRun) => unrecorded.get([project, created_at, id]) ?? null,
    unrecorded(project, { from, before }, limit) {
      const range = { start: [project, before] as never, end: [project, from] as never, reverse: true, limit };
      return [...unrecorded.getRange(range)].flatMap(({ key, value }) => {
        const ciRun = ciRuns.get(key);
        return ciRun ? { ciRun, summary: value } : [];
      });
    },
    putUnrecorded: (ciRun, summary) => commit(parts, () => putUnrecorded(parts, ciRun, summary)),
    days(project: number, branch: string | null, from: number, to: number) {
      const owner = branch === null ? ALL : digest(branch);
      const range = days.getRange({ start: [project, owner, from], end: [project, owner, to + 1] } as object);
      return Array.from(range, ({ value }) => value);
    },
  } satisfies Summaries;
}

/** Within a write transaction. */
function putSummary(tables: Tables, build: Build, summary: Summary): void {
  if (tables.builds.get(build.number)?.id !== build.id) return;
  const before = tables.summaries.get(build.number);
  if (before) countBuild(tables, build, before, -1);
  else forgetUnrecorded(tables, build);
  countBuild(tables, build, summary, 1);
  void tables.summaries.put(build.number, summary);
}

/** Within a write transaction. */
function putUnrecorded(tables: Tables, ciRun: CiRun, summary: Summary): void {
  const { project, created_at, id } = ciRun;
  if (tables.buildNumbers.doesExist(buildDigest(project, ciRun)) || !tables.ciRunKeys.doesExist(id)) return;
  forgetUnrecorded(tables, ciRun);
  countBuild(tables, ciRun, summary, 1);
  void tables.unrecorded.put([project, created_at, id], summary);
}

/** Takes the summaries of the CI runs of a build of which nothing was recorded off their days. */
function forgetUnrecorded(tables: Tables, build: ProjectBuild): void {
  const digest = buildDigest(build.project, build);
  for (const [, created_at, id] of tables.ciRunsOfBuild.getKeys({ start: [digest, -Infinity], end: [digest, Infinity] } as object)) {
    const summary = tables.unrecorded.get([build.project, created_at, id]);
    if (!summary) continue;
    countBuild(tables, build, summary, -1);
    void tables.unrecorded.remove([build.project, created_at, id]);
  }
}

function countBuild(tables: Tables, build: ProjectBuild, summary: Summary, sign: 1 | -1): void {
  // The day may have expired before the build.
  changeDay(tables, build, dayOf(summary), sign === 1, day => countOn(day, summary, sign));
}

/**
 * Changes a day of a branch, and that of all branches, within a write transaction.
 *
 * @param mayBegin false: a day with nothing on it is left as it is
 */
export function changeDay(
  tables: Pick<Tables, 'days' | 'expiry'>,
  { project, branch }: Pick<ProjectBuild, 'project' | 'branch'>,
  day: number,
  mayBegin: boolean,
  change: (day: DaySummary) => DaySummary,
): void {
  const { days, expiry } = tables;
  for (const owner of [ALL, digest(branch)]) {
    const key: DayKey = [project, owner, day];
    const record = days.get(key);
    if (!record && !mayBegin) continue;
    const before = record ?? emptyDay(day);
    const changed = change(before);
    if (changed === before) continue;
    const entry: [number, string, ...DayKey] = [endOfDay(day), 'day', ...key];
    if (countedOn(changed) === 0) {
      void days.remove(key);
      void expiry.remove(entry);
    } else {
      void days.put(key, changed);
      if (!record) void expiry.put(entry, true);
    }
  }
}
