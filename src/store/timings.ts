import { limits } from '../limits.js';
import { type BranchTiming, measureOn, timingOn } from '../plan/times/branch-timings.js';
import type { KnownTimes } from '../plan/times/estimate.js';
import { fileOf } from '../plan/times/test-case.js';
import { estimateOf, type RunKind } from '../plan/times/timing.js';
import { toSeconds, toWeight } from '../plan/weight.js';
import { defaultBranch } from './default-branch.js';
import { shortDigest } from './digest.js';
import type { Store } from './open.js';
import type { Millis } from './records.js';
import { decodeTimings, encodeTimings } from './timing-codec.js';
import { TimingKeys } from './timing-keys.js';

/** Measured times. */
export interface Measured {
  /** Keys of timings, by time. */
  timingKeys: readonly string[];
  seconds: Float64Array;
}

/** What a run of a node belongs to. */
export interface RunOf {
  project: number;
  branch: string;
  build: string;
  run: RunKind;
  at: Millis;
  /** When the first run of the build was recorded. */
  began: Millis;
}

/**
 * Within a write transaction: records times from the given one on, as many as one transaction may hold, so
 * that a large suite does not hold up everybody else's commits. Returns where to go on, null at the end.
 */
export function putTimings(store: Store, { timingKeys, seconds }: Measured, from: number, of: RunOf): number | null {
  const { run, at, began } = of;
  const end = Math.min(timingKeys.length, from + limits.timingsPerCommit);
  const [own, other] = branchesOf(store, of.project, of.branch);
  const build = shortDigest(of.build);
  for (let i = from; i < end; i++) {
    const key = timingKeys[i]!;
    const timings = measureOn(find(store, key), own, other, { build, seconds: seconds[i]!, at, began, run });
    if (timings) void store.timings.put(key, encodeTimings(timings));
  }
  return end < timingKeys.length ? end : null;
}

/** There are so many test cases to add up that a packing thread is to do it. */
export class TooManyCases extends Error {}

/**
 * What is known of the paths on the branch; else on the default branch; else on any. What is known of a file may be
 * the sum of its test cases.
 *
 * @param isPooled this is a packing thread; elsewhere TooManyCases is thrown when it should be one
 */
export function knownTimes(
  store: Store,
  project: number,
  branch: string,
  paths: readonly string[],
  isPooled: boolean,
): KnownTimes {
  const branches = branchesOf(store, project, branch);
  const on = (timings: readonly BranchTiming[]) => timingOn(timings, ...branches);
  const keys = new TimingKeys(project);
  const hasCases = store.projects.get(project)?.has_test_cases ?? false;
  const files = new Map<string, number>();
  let casesLeft: number = isPooled ? limits.casesPooled : limits.casesHere;
  const seconds = paths.map(path => {
    const timing = on(find(store, keys.of(path)));
    if (timing) return estimateOf(timing);
    const file = fileOf(path);
    if (file === null) {
      if (!hasCases || casesLeft <= 0) return null;
      const limit = Math.min(limits.casesPerFile, casesLeft);
      const cases = [...store.timings.getRange({ ...keys.casesOf(path), limit })];
      casesLeft -= cases.length;
      if (casesLeft <= 0 && !isPooled) throw new TooManyCases();
      return sumOfCases(
        cases.map(({ value }) => decodeTimings(value)),
        ...branches,
      );
    }
    if (!files.has(file)) {
      const whole = on(find(store, keys.ofFile(file)));
      if (whole) files.set(file, estimateOf(whole));
    }
    return null;
  });
  return { seconds, files };
}

/**
 * What the test cases of a file take that there are now, as far as the branch and the default branch tell; if they tell
 * nothing, as far as any does. Null when there are none.
 */
function sumOfCases(cases: readonly BranchTiming[][], branch: number, other: number | null): number | null {
  const onBranch = (name: number) => fresh(cases.map(timings => timings.find(of => of.branch === name)));
  const own = onBranch(branch);
  const others = other === null ? [] : onBranch(other);
  let known = cases.flatMap((_, i) => own[i] ?? others[i] ?? []);
  if (known.length === 0) known = fresh(cases.map(timings => timingOn(timings, branch, other))).flatMap(of => of ?? []);
  if (known.length === 0) return null;
  return toSeconds(toWeight(known.reduce((sum, timing) => sum + estimateOf(timing), 0)));
}

/** Those that were measured about when the last one was: a case of before is gone, or has another name. */
function fresh(timings: readonly (BranchTiming | undefined)[]): (BranchTiming | undefined)[] {
  const last = timings.reduce((latest, timing) => Math.max(latest, timing?.at ?? 0), 0);
  return timings.map(timing => (timing && timing.at >= last - limits.staleCaseMilliseconds ? timing : undefined));
}

/** The branch, and the default branch if there is one. */
function branchesOf(store: Store, project: number, branch: string): [own: number, other: number | null] {
  const other = defaultBranch(store, project);
  return [shortDigest(branch), other === null ? null : shortDigest(other)];
}

function find(store: Store, key: string): BranchTiming[] {
  const bytes = store.timings.get(key);
  return bytes ? decodeTimings(bytes) : [];
}
