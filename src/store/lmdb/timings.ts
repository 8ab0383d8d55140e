import { LRUCache } from 'lru-cache';
import { limits } from '../../limits.js';
import { type BranchTiming, type BranchTimings, timingOn } from '../../planning/estimating/branch-timings.js';
import type { KnownTimes } from '../../planning/estimating/estimate.js';
import { fileOf } from '../../planning/estimating/test-case.js';
import { estimateOf, type Measurement, type RunKind } from '../../planning/estimating/timing.js';
import { toSeconds, toWeight } from '../../planning/weight.js';
import type { Logger } from '../../server/log.js';
import { defaultBranch } from './default-branch.js';
import { shortDigest } from './digest.js';
import type { Store } from './open.js';
import { rangeOfCases } from './path-keys.js';
import type { Millis, RunKey } from './records.js';
import { decodeSubset } from './subset-codec.js';
import { decodeTimingOn, decodeTimings } from './timing-codec.js';

/** A recorded run whose times are to count. */
export interface Learnable {
  project: number;
  branch: string;
  /** The id of its build, and when the first run of that was recorded. */
  build: string;
  began: Millis;
  at: Millis;
  run: RunKind;
  /** Its entry in `unlearnt`. */
  entry: number;
}

/** Lets what a run measured count: seconds by path, 0: not measured. Resolves when all of it does. */
export async function learn(
  store: Store,
  paths: Uint32Array,
  seconds: Float64Array,
  { project, branch, build, began, at, run, entry }: Learnable,
): Promise<void> {
  const [own, other] = branchesOf(store, project, branch);
  // One object, changed for each file: a copy a file took a third of a recording.
  const measurement: Measurement = { build: shortDigest(build), at, began, run, seconds: 0 };
  for (let i = 0; i < paths.length; i++) {
    if (i > 0 && i % limits.timingsPerTurn === 0) await store.recent.nextTurn();
    measurement.seconds = seconds[i]!;
    if (measurement.seconds > 0) store.recent.measure(paths[i]!, own, other, measurement);
  }
  store.recent.learnt(entry);
}

/** Learns what was recorded just before the process was killed. */
export async function learnRest(store: Store, log: Logger): Promise<void> {
  for (const { key: entry, value: runKey } of [...store.unlearnt.getRange()]) {
    try {
      await learnEntry(store, entry, runKey);
    } catch (err) {
      // Times are worth less than a server that starts.
      log.error({ err, runKey }, 'the times of a recorded run are not learnt');
    }
  }
}

async function learnEntry(store: Store, entry: number, runKey: RunKey): Promise<void> {
  const build = store.builds.get(runKey[0]);
  const bytes = store.subsets.get(runKey);
  if (!build || !bytes) return store.recent.learnt(entry);
  const { project, branch, id, created_at: began } = build;
  const { created_at: at, paths, seconds } = decodeSubset(bytes);
  await learn(store, paths, seconds, { project, branch, build: id, began, at, run: kindOf(runKey), entry });
}

export function kindOf([, , run]: RunKey): RunKind {
  return run === 1 ? 'first' : 'retried';
}

/** There are so many test cases to add up that a packing thread is to do it. */
export class TooManyCases extends Error {}

/**
 * What is known of the paths on the branch; else on the default branch; else on any. What is known of a file may be
 * the sum of its test cases.
 *
 * @param isPooled this is a packing thread; elsewhere TooManyCases is thrown when it should be one
 */
export function knownTimes(store: Store, project: number, branch: string, paths: readonly string[], isPooled: boolean): KnownTimes {
  const [own, other] = branchesOf(store, project, branch);
  const on = (path: string) => timingOf(store, project, path, own, other);
  const hasCases = store.projects.get(project)?.has_test_cases ?? false;
  const files = new Map<string, number>();
  let casesLeft: number = isPooled ? limits.testCasesPerRequest : limits.testCasesOnMainThread;
  const secondsOf = (path: string) => {
    const timing = on(path);
    if (timing) return estimateOf(timing);
    const file = fileOf(path);
    if (file === null) {
      if (!hasCases || casesLeft <= 0) return NaN;
      const limit = Math.min(limits.testCasesPerFile, casesLeft);
      const cases = [...store.paths.getRange({ ...rangeOfCases(project, path), limit })];
      casesLeft -= cases.length;
      if (casesLeft <= 0 && !isPooled) throw new TooManyCases();
      return sumOfCases(
        cases.map(({ value: number }) => timingsOf(store, number)),
        own,
        other,
      );
    }
    if (!files.has(file)) {
      const whole = on(copyOf(file));
      if (whole) files.set(file, estimateOf(whole));
    }
    return NaN;
  };
  const seconds = new Float64Array(paths.length);
  for (let i = 0; i < paths.length; i++) seconds[i] = secondsOf(paths[i]!);
  return { seconds, files };
}

/** Copies a part of a text: a substring would keep the whole text in memory as long as its path is kept. */
function copyOf(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le');
}

/**
 * What the test cases of a file take that there are now, as far as the branch and the default branch tell; if they tell
 * nothing, as far as any does. NaN when there are none.
 */
function sumOfCases(cases: readonly BranchTimings[], branch: number, other: number | null): number {
  const onBranch = (name: number) => fresh(cases.map(timings => timings.find(of => of.branch === name)));
  const own = onBranch(branch);
  const others = other === null ? [] : onBranch(other);
  let known = cases.flatMap((_, i) => own[i] ?? others[i] ?? []);
  if (known.length === 0) known = fresh(cases.map(timings => timingOn(timings, branch, other))).flatMap(of => of ?? []);
  if (known.length === 0) return NaN;
  return toSeconds(toWeight(known.reduce((sum, timing) => sum + estimateOf(timing), 0)));
}

/** Those that were measured about when the last one was: a case of before is gone, or has another name. */
function fresh(timings: readonly (BranchTiming | undefined)[]): (BranchTiming | undefined)[] {
  const last = timings.reduce((latest, timing) => Math.max(latest, timing?.at ?? 0), 0);
  return timings.map(timing => (timing && timing.at >= last - limits.staleTestCaseMilliseconds ? timing : undefined));
}

/** Every recording asks for two: a look-up instead of a SHA-256. */
const branchNumbers = new LRUCache<string, number>({ max: 1000 });

function branchNumber(branch: string): number {
  const known = branchNumbers.get(branch);
  if (known !== undefined) return known;
  const number = shortDigest(branch);
  branchNumbers.set(branch, number);
  return number;
}

/** The branch, and the default branch if there is one. */
function branchesOf(store: Store, project: number, branch: string): [own: number, other: number | null] {
  const other = defaultBranch(store, project);
  return [branchNumber(branch), other === null ? null : branchNumber(other)];
}

function timingOf(store: Store, project: number, path: string, own: number, other: number | null): BranchTiming | undefined {
  const number = store.numbers.get(project, path);
  if (number === undefined) return undefined;
  const recent = store.recent.get(number);
  if (recent) return timingOn(recent.timings, own, other);
  const bytes = store.timings.getBinaryFast(number) ?? store.timings.getBinaryFast(store.numbers.read(project, path) ?? number);
  return bytes && decodeTimingOn(bytes, own, other);
}

function timingsOf(store: Store, number: number): BranchTimings {
  const recent = store.recent.get(number);
  if (recent) return recent.timings;
  const bytes = store.timings.getBinaryFast(number);
  return bytes ? decodeTimings(bytes).timings : [];
}
