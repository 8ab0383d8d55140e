import { groupBy } from '../../../base/group-by.js';
import { rounded, wholeMilliseconds } from '../../../base/rounding.js';
import { DAY_MILLISECONDS, timestamp } from '../../../base/time.js';
import type { FlakyAnswer, FlakyBuild, FlakyCase, FlakyCost, FlakyFile, FlakyState } from '../../../protocol/answers/flaky.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { type PriceSettings, priceOf } from '../../../protocol/price.js';
import { settingsOf } from '../../engine/access.js';
import type { Build } from '../../engine/ports/builds.js';
import type { FailedBuild, FileFailure } from '../../engine/ports/failures.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { isOutOfDate } from '../../engine/ports/summaries.js';
import { median } from '../../planning/estimating/median.js';
import { completeBuilds } from '../trends/build-trend.js';
import { type Trend, withSummaries } from '../trends/summary.js';
import { type BuildsOfDay, cleanBuilds, type FileEvidence, rateAt, stateOf } from './file-state.js';

/** The newest builds with failures that are read. */
export const FAILED_BUILDS = 5000;
export const OUTAGES = 50;
const NODES = 20;
const CASES = 5;
/** The file before a flaky one is named if it was there in so many flakes. */
const FLAKES_BEFORE = 2;
/** A file that failed at so many commits in a row is failing. */
const FAILING_COMMITS = 2;
/** The newest builds that are asked whether their clients tell outcomes, if nothing else shows it. */
const BUILDS_ASKED = 3;

export interface FlakySubject {
  project: number;
  limit: number;
  /** Of `recent`. */
  days: number;
  now: Millis;
}

/** A file in a build in which it failed. */
interface Event {
  build: Build;
  at: Millis;
  file: FileFailure;
}

/** A commit of the default branch, and the paths that failed in all of its builds. */
export interface DecidedCommit {
  build: Build;
  failed: ReadonlySet<number>;
}

/** The flaky and the failing files of a project. Reads what failed, and summaries; recorded runs only of a few builds, for `tells_outcomes`. */
export async function flakyFiles(store: Store, { project, limit, days: recent, now }: FlakySubject): Promise<Trend<FlakyAnswer>> {
  const today = Math.floor(now / DAY_MILLISECONDS);
  const [settings, failed, days] = await Promise.all([
    settingsOf(store.access, project),
    store.failures.newest(project, FAILED_BUILDS),
    store.summaries.days(project, null, today - limits.trendDays + 1, today),
  ]);
  const { commits, outdated } = await decidedCommits(store, project, failed);
  const events = failed.flatMap(({ build, failures: { at, files } }) => files.map((file): Event => ({ build, at, file })));
  const failing = failingSince(commits);
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

export interface Known {
  days: readonly BuildsOfDay[];
  settings: PriceSettings;
  /** By path: see failingSince. */
  failing: ReadonlyMap<number, Build>;
  now: Millis;
}

/** @param names of the files of paths, of which several may be pieces of one file, and of those before them */
export function filesOf(events: readonly Event[], names: ReadonlyMap<number, string>, known: Known): FlakyFile[] {
  const files = [...groupBy(events, ({ file }) => names.get(file.path)!)].flatMap(([path, own]) => fileOf(path, own, names, known) ?? []);
  const isHealed = ({ state }: FlakyFile) => Number(state === 'healed');
  return files.sort((a, b) => isHealed(a) - isHealed(b) || b.seconds - a.seconds || b.rate - a.rate || (a.path < b.path ? -1 : 1));
}

/** @param events of one file, the last created build first. Returns null if it is neither flaky nor failing */
function fileOf(path: string, events: readonly Event[], names: ReadonlyMap<number, string>, known: Known): FlakyFile | null {
  const { days, settings, failing } = known;
  const { flaky, undecided } = decidedBuilds(events);
  const evidence = evidenceOf({ flaky, undecided });
  const since = events.map(({ file }) => failing.get(file.path)).find(build => build !== undefined);
  const clean = cleanBuilds(evidence, days);
  const state = stateOf(evidence, clean, since !== undefined);
  if (!state) return null;
  const all = flaky.flat();
  const before = pathBefore(all);
  const sumOf = (name: 'seconds' | 'later') => wholeMilliseconds(all.reduce((sum, { file }) => sum + file[name], 0));
  const seconds = sumOf('seconds');
  return {
    path,
    state,
    ...countsOf(evidence, known),
    clean,
    failing_since: since ? buildOf(since, since.created_at) : null,
    seconds,
    // No job was needed for it alone: neither a set-up nor a step of billing is counted.
    cost: priceOf({ ...settings, setup: null, billing_step: null }, [[seconds, 1]]),
    later: sumOf('later'),
    nodes: [...new Set(all.map(({ file }) => file.node_index))].sort((a, b) => a - b).slice(0, NODES),
    slowdown: slowdownOf(all),
    before: before && { ...before, path: names.get(before.path)! },
    cases: casesOf({ flaky, undecided }, known),
    last: buildOf((all[0] ?? events[0]!).build, (all[0] ?? events[0]!).at),
  };
}

/** The events of a file in each build in which it was flaky, and in each in which it never passed. */
interface DecidedBuilds {
  flaky: Event[][];
  undecided: Event[][];
}

function decidedBuilds(events: readonly Event[]): DecidedBuilds {
  const builds = [...groupBy(events, ({ build }) => build.number).values()];
  const flaky = builds.map(own => own.filter(({ file }) => file.isFlaky)).filter(({ length }) => length > 0);
  return { flaky, undecided: builds.filter(own => own.every(({ file }) => !file.isFlaky)) };
}

function evidenceOf({ flaky, undecided }: DecidedBuilds): FileEvidence {
  return {
    flakes: flaky.map(([event]) => ({ at: event!.at, commit_hash: event!.build.commit_hash })),
    undecided: undecided.map(([event]) => event!.at),
  };
}

function countsOf(evidence: FileEvidence, { days, now }: Known): Pick<FlakyFile, 'flakes' | 'commits' | 'rate' | 'low' | 'high'> {
  const { rate, low, high } = rateAt(now, evidence, days);
  const commits = new Set(evidence.flakes.map(({ commit_hash }) => commit_hash)).size;
  return { flakes: evidence.flakes.length, commits, rate: rounded(rate), low: rounded(low), high: rounded(high) };
}

/** The test cases that failed when their file was flaky. A build in which a case failed and its file never passed does not count for the case. */
function casesOf({ flaky, undecided }: DecidedBuilds, known: Known): FlakyCase[] {
  const names = new Set(flaky.flat().flatMap(({ file }) => file.cases));
  const cases = [...names].map((name): FlakyCase => {
    const hasIt = (own: Event[]) => own.some(({ file }) => file.cases.includes(name));
    const evidence = evidenceOf({ flaky: flaky.filter(hasIt), undecided: undecided.filter(hasIt) });
    const state = stateOf(evidence, cleanBuilds(evidence, known.days), false) as FlakyCase['state'];
    return { name, state, ...countsOf(evidence, known) };
  });
  return cases.sort((a, b) => b.flakes - a.flakes || (a.name < b.name ? -1 : 1)).slice(0, CASES);
}

function slowdownOf(flakes: readonly Event[]): number | null {
  const ratios = flakes.flatMap(({ file }) => file.slowdown ?? []);
  return ratios.length === 0 ? null : rounded(median(ratios));
}

/** The paths that ran just before flaky files, the same or several, so often that one may be named. */
function repeatedPathsBefore(events: readonly Event[]): number[] {
  const before = events.flatMap(({ file }) => (file.isFlaky && file.before) || []);
  return [...groupBy(before, path => path)].flatMap(([path, own]) => (own.length >= FLAKES_BEFORE ? path : []));
}

/** The path that most often ran just before a file in its flakes; null: none did in two. */
function pathBefore(flakes: readonly Event[]): { path: number; flakes: number } | null {
  const byPath = groupBy(
    flakes.flatMap(({ file }) => file.before ?? []),
    path => path,
  );
  const [most] = [...byPath].sort(([, a], [, b]) => b.length - a.length);
  return most && most[1].length >= FLAKES_BEFORE ? { path: most[0], flakes: most[1].length } : null;
}

function buildOf({ id, commit_hash, branch }: Build, at: Millis): FlakyBuild {
  return { build_id: id, commit_hash, branch, at: timestamp(at) };
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

/** The newest commits of the default branch that tell what fails, the newest first. An outage hides what else failed. */
async function decidedCommits(
  store: Store,
  project: number,
  failed: readonly FailedBuild[],
): Promise<{ commits: DecidedCommit[]; outdated: Build[] }> {
  const branch = (await store.access.project(project))?.default_branch ?? null;
  if (branch === null) return { commits: [], outdated: [] };
  const byBuild = new Map(failed.map(({ build, failures }) => [build.number, failures]));
  const outdated: Build[] = [];
  const commits = new Map<string, DecidedCommit>();
  for (const { build, summary } of await withSummaries(
    store,
    await store.builds.list(project, { branch }, { limit: limits.trendBuilds }),
  )) {
    if (isOutOfDate(build, summary)) outdated.push(build);
    const failures = byBuild.get(build.number);
    if (!summary || !hasEndedComplete(summary.state) || (failures?.outages.length ?? 0) > 0) continue;
    const ofBuild = new Set(failures?.files.flatMap(({ path, isFlaky }) => (isFlaky ? [] : path)));
    const { build: newest, failed: before } = commits.get(build.commit_hash) ?? { build, failed: ofBuild };
    commits.set(build.commit_hash, { build: newest, failed: new Set([...ofBuild].filter(path => before.has(path))) });
  }
  return { commits: [...commits.values()], outdated };
}

/** The paths that failed at each of the newest commits, with the first build in that row. */
export function failingSince(commits: readonly DecidedCommit[]): Map<number, Build> {
  const failing = new Map<number, Build>();
  for (const path of commits[0]?.failed ?? []) {
    const passed = commits.findIndex(({ failed }) => !failed.has(path));
    const row = passed === -1 ? commits.length : passed;
    if (row >= FAILING_COMMITS) failing.set(path, commits[row - 1]!.build);
  }
  return failing;
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
