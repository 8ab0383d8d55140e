import { wholeMilliseconds } from '../../../base/rounding.js';
import { DAY_MILLISECONDS, timestamp } from '../../../base/time.js';
import type { FlakyAnswer, FlakyCost, FlakyFile, FlakyState } from '../../../protocol/answers/flaky.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { settingsOf } from '../../engine/access.js';
import type { FailedBuild } from '../../engine/ports/failures.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { completeBuilds } from '../trends/build-trend.js';
import type { Trend } from '../trends/summary.js';
import { failingFiles } from './failing-files.js';
import { buildOf, type Event, filesOf, repeatedPathsBefore } from './flakes-of-file.js';

/** The newest builds with failures that are read. */
export const FAILED_BUILDS = 5000;
export const OUTAGES = 50;
/** The newest builds that are asked whether their clients tell outcomes, if nothing else shows it. */
const BUILDS_ASKED = 3;

export interface FlakySubject {
  project: number;
  limit: number;
  /** Of `recent`. */
  days: number;
  now: Millis;
}

/** The flaky and the failing files of a project. Reads what failed, and summaries; recorded runs only of a few builds, for `tells_outcomes`. */
export async function flakyFiles(store: Store, { project, limit, days: recent, now }: FlakySubject): Promise<Trend<FlakyAnswer>> {
  const today = Math.floor(now / DAY_MILLISECONDS);
  const [settings, failed, days] = await Promise.all([
    settingsOf(store.access, project),
    store.failures.newest(project, FAILED_BUILDS),
    store.summaries.days(project, null, today - limits.trendDays + 1, today),
  ]);
  const { failing, outdated } = await failingFiles(store, project, failed);
  const events = failed.flatMap(({ build, failures: { at, files } }) => files.map((file): Event => ({ build, at, file })));
  const listed = new Set([...events.flatMap(({ file }) => (file.isFlaky ? file.path : [])), ...failing.keys()]);
  const named = new Set([...listed, ...repeatedPathsBefore(events)]);
  const names = new Map(await Promise.all([...named].map(async path => [path, fileOfPiece(await store.builds.path(path))] as const)));
  const known = { days: days.map(day => ({ day: day.day, builds: completeBuilds(day) })), settings, failing, now };
  const files = filesOf(
    events.filter(({ file }) => listed.has(file.path)),
    names,
    known,
  );
  const oldest = failed.at(-1);
  const answer = {
    since: oldest ? timestamp(oldest.build.created_at) : null,
    tells_outcomes: failed.length > 0 || days.some(({ sums }) => sums.passed > 0) || (await tellsOutcomes(store, project)),
    files: files.slice(0, limit),
    file_count: files.length,
    recent: { days: recent, ...costSince(DAY_MILLISECONDS * (today - recent + 1), failed) },
    outages: outagesOf(failed),
  };
  return { answer, outdated };
}

/** The files that are flaky now, and those that were, for the events of a webhook. */
export async function flakyNow(
  store: Store,
  subject: Pick<FlakySubject, 'project' | 'now'>,
): Promise<{ flaky: FlakyFile[]; healed: string[] }> {
  const { files } = (await flakyFiles(store, { ...subject, limit: limits.flakyFiles, days: 1 })).answer;
  const inState = (state: FlakyState) => files.filter(file => file.state === state);
  return { flaky: inState('flaky'), healed: inState('healed').map(({ path }) => path) };
}

/** What flaky files cost in the builds whose newest CI run began at a time or later. */
function costSince(from: Millis, failed: readonly FailedBuild[]): Omit<FlakyCost, 'days'> {
  const builds = failed.map(({ failures: { at, files } }) => (at < from ? [] : files.filter(({ isFlaky }) => isFlaky)));
  const flaky = builds.flat();
  return {
    builds: builds.filter(({ length }) => length > 0).length,
    seconds: wholeMilliseconds(flaky.reduce((sum, { seconds }) => sum + seconds, 0)),
    later: wholeMilliseconds(flaky.reduce((sum, { later }) => sum + later, 0)),
  };
}

function outagesOf(failed: readonly FailedBuild[]): FlakyAnswer['outages'] {
  return failed
    .flatMap(({ build, failures: { at, outages } }) => outages.map(outage => ({ ...buildOf(build, at), ...outage })))
    .slice(0, OUTAGES);
}

/** Reports whether the client that recorded last in one of the newest builds told how a file ended. */
async function tellsOutcomes({ builds }: Pick<Store, 'builds'>, project: number): Promise<boolean> {
  for (const { number } of await builds.list(project, {}, { limit: BUILDS_ASKED })) {
    const [last] = (await builds.runs(number)).sort((a, b) => b.ordinal - a.ordinal);
    const times = last && (await builds.times(number, last));
    if (times?.outcomes.some(outcome => outcome !== 0)) return true;
  }
  return false;
}
