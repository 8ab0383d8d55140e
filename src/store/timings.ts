import { limits } from '../limits.js';
import type { KnownTimes } from '../plan/estimate.js';
import { fileOf } from '../plan/test-case.js';
import { estimateOf, measure, type RunKind } from '../plan/timing.js';
import { toSeconds, toWeight } from '../plan/weight.js';
import { defaultBranch } from './default-branch.js';
import type { Store } from './open.js';
import type { Millis, TimingRecord } from './records.js';
import { PathKeys, scopeOf } from './timing-keys.js';

/** Measured times. */
export interface Measured {
  /** PathKeys by time. */
  pathKeys: readonly string[];
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
export function putTimings(store: Store, { pathKeys, seconds }: Measured, from: number, of: RunOf): number | null {
  const { project, branch, ...rest } = of;
  const end = Math.min(pathKeys.length, from + limits.timingsPerCommit);
  const [own, ...others] = scopesOf(store, project, branch) as [string, ...string[]];
  const all = scopeOf(project, null);
  for (let i = from; i < end; i++) {
    const key = pathKeys[i]!;
    const elsewhere = () => find(store, others, key);
    for (const scope of [own, all]) {
      const measurement = { ...rest, seconds: seconds[i]! };
      const timing = measure(store.timings.get(scope + key), measurement, scope === own ? elsewhere : () => undefined);
      if (timing) void store.timings.put(scope + key, { ...timing, v: 1 });
    }
  }
  return end < pathKeys.length ? end : null;
}

/**
 * What is known of the paths on the branch; else on the default branch; else on any. What is known of a file may be
 * the sum of its test cases.
 */
export function knownTimes(store: Store, project: number, branch: string, paths: readonly string[]): KnownTimes {
  // Many a branch has none yet: that is asked once, not for each path.
  const scopes = scopesOf(store, project, branch).filter(scope => hasTimings(store, scope));
  const keys = new PathKeys();
  const hasCases = store.projects.get(project)?.has_test_cases ?? false;
  const files = new Map<string, number>();
  let casesLeft: number = limits.casesPerRequest;
  const seconds = paths.map(path => {
    const timing = find(store, scopes, keys.of(path));
    if (timing) return estimateOf(timing);
    const file = fileOf(path);
    if (file === null) {
      if (!hasCases || casesLeft <= 0) return null;
      const { seconds: sum, read } = sumOfCases(store, scopes, keys.ofFile(path));
      casesLeft -= read;
      return sum;
    }
    if (!files.has(file)) {
      const whole = find(store, scopes, keys.ofFile(file));
      if (whole) files.set(file, estimateOf(whole));
    }
    return null;
  });
  return { seconds, files };
}

function scopesOf(store: Store, project: number, branch: string): string[] {
  return [...new Set([branch, defaultBranch(store, project), null])].map(name => scopeOf(project, name));
}

function hasTimings(store: Store, scope: string): boolean {
  return store.timings.getKeysCount({ start: scope, end: `${scope}~`, limit: 1 }) > 0;
}

function find(store: Store, scopes: readonly string[], key: string): TimingRecord | undefined {
  for (const scope of scopes) {
    const timing = store.timings.get(scope + key);
    if (timing) return timing;
  }
  return undefined;
}

/** The test cases of a file that there are now, each on the first scope that has it: their sum, null when none is known. */
function sumOfCases(
  store: Store,
  scopes: readonly string[],
  fileKey: string,
): { seconds: number | null; read: number } {
  const seconds = new Map<string, number>();
  let read = 0;
  for (const scope of scopes) {
    const range = { start: `${scope}${fileKey}-`, end: `${scope}${fileKey}~`, limit: limits.casesPerFile };
    const cases = [...store.timings.getRange(range)];
    read += cases.length;
    // A case that is not measured any more while others are is gone, or has another name.
    const since = cases.reduce((last, { value }) => Math.max(last, value.at), 0) - limits.staleCaseMilliseconds;
    for (const { key, value } of cases) {
      const name = key.slice(scope.length);
      if (value.at >= since && !seconds.has(name)) seconds.set(name, estimateOf(value));
    }
  }
  const sum = [...seconds.values()].reduce((all, each) => all + each, 0);
  return { seconds: seconds.size === 0 ? null : toSeconds(toWeight(sum)), read };
}
