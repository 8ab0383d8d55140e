import { groupBy } from '../../../base/group-by.js';
import { rounded, wholeMilliseconds } from '../../../base/rounding.js';
import { timestamp } from '../../../base/time.js';
import type { FlakyBuild, FlakyCase, FlakyFile } from '../../../protocol/answers/flaky.js';
import { type PriceSettings, priceOf } from '../../../protocol/price.js';
import type { Build } from '../../engine/ports/builds.js';
import type { FileFailure } from '../../engine/ports/failures.js';
import type { Millis } from '../../engine/ports/store.js';
import { median } from '../../planning/estimating/median.js';
import { type BuildsOfDay, cleanBuilds, type FileEvidence, rateAt, stateOf } from './file-state.js';

const NODES = 20;
const CASES = 5;
/** The file before a flaky one is named if it was there in so many flakes. */
const FLAKES_BEFORE = 2;

/** A file in a build in which it failed. */
export interface Event {
  build: Build;
  at: Millis;
  file: FileFailure;
}

export interface Known {
  days: readonly BuildsOfDay[];
  settings: PriceSettings;
  /** By path: see failingFiles. */
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
export function repeatedPathsBefore(events: readonly Event[]): number[] {
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

export function buildOf({ id, commit_hash, branch }: Build, at: Millis): FlakyBuild {
  return { build_id: id, commit_hash, branch, at: timestamp(at) };
}
