import { DAY_MILLISECONDS } from '../../../base/time.js';
import type { FlakyFile, FlakyState } from '../../../protocol/answers/flaky.js';
import type { Millis } from '../../engine/ports/store.js';

/** Flakes and builds count half after this time. */
const HALF_LIFE_MILLISECONDS = 14 * DAY_MILLISECONDS;
/** 90 % of the normal distribution are between this and its negative. */
const Z = 1.6449;
/** A file that keeps its rate is clean in so many times 1 / rate builds in only 5 % of all cases (the rule of three). */
const RULE_OF_THREE = 3;

/** Builds of a project that ended on a day. */
export interface BuildsOfDay {
  day: number;
  builds: number;
}

/** What failed of a file. */
export interface FileEvidence {
  /** The builds in which it was flaky. */
  flakes: readonly { at: Millis; commit_hash: string }[];
  /** When the builds began in which it failed, and never passed: they decide nothing. */
  undecided: readonly Millis[];
}

type Rate = Pick<FlakyFile, 'rate' | 'low' | 'high'>;

/** What is known at a time about the part of the builds in which a file is flaky. Passes are not stored: it passed in all other builds. */
export function rateAt(time: Millis, { flakes, undecided }: FileEvidence, days: readonly BuildsOfDay[]): Rate {
  const weight = (at: Millis) => (at > time ? 0 : 2 ** ((at - time) / HALF_LIFE_MILLISECONDS));
  const x = flakes.reduce((sum, { at }) => sum + weight(at), 0);
  // The builds of a day count as if they had begun with it.
  const builds = days.reduce((sum, day) => sum + day.builds * weight(day.day * DAY_MILLISECONDS), 0);
  const n = Math.max(
    x,
    undecided.reduce((sum, at) => sum - weight(at), builds),
  );
  return { rate: (x + 0.5) / (n + 1), ...intervalOf(x, n) };
}

/** The interval that has the true part with a probability of 90 %, if `x` of `n` were seen (Wilson, 1927). */
export function intervalOf(x: number, n: number): Pick<Rate, 'low' | 'high'> {
  const middle = (x + Z ** 2 / 2) / (n + Z ** 2);
  const half = (Z * Math.sqrt((n > 0 ? (x * (n - x)) / n : 0) + Z ** 2 / 4)) / (n + Z ** 2);
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** In how many builds a file was not flaky since it last was, and how many of them heal it; null: it never was flaky. */
export function cleanBuilds(evidence: FileEvidence, days: readonly BuildsOfDay[]): FlakyFile['clean'] {
  const { flakes, undecided } = evidence;
  if (flakes.length === 0) return null;
  const last = Math.max(...flakes.map(({ at }) => at));
  const dayOfLast = Math.floor(last / DAY_MILLISECONDS);
  // Which builds of the same day came later is not known.
  const later = days.reduce((sum, { day, builds }) => (day > dayOfLast ? sum + builds : sum), 0);
  const open = undecided.filter(at => Math.floor(at / DAY_MILLISECONDS) > dayOfLast).length;
  return { builds: Math.max(0, later - open), of: Math.ceil(RULE_OF_THREE / rateAt(last, evidence, days).rate) };
}

export function stateOf({ flakes }: FileEvidence, clean: FlakyFile['clean'], isFailing: boolean): FlakyState | null {
  if (isFailing) return 'failing';
  if (!clean) return null;
  if (clean.builds >= clean.of) return 'healed';
  if (RULE_OF_THREE * clean.builds >= clean.of) return 'healing';
  return new Set(flakes.map(({ commit_hash }) => commit_hash)).size > 1 ? 'flaky' : 'suspected';
}
