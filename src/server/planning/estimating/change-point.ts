import { DEVIATIONS_PER_MAD } from './median.js';

/**
 * Finds where the duration of a file changed for good. The series is split in two where the sum of absolute deviations from the medians
 * of both parts is least (the least absolute deviation estimator of a change point, Bai, "Estimation of multiple-regime regressions with
 * least absolutes deviation", 1998), and each part is split again (binary segmentation, Vostrikova, "Detecting disorder in
 * multidimensional random processes", 1981). Medians and absolute deviations hardly notice an outlier, and durations are compared in
 * logarithms, so a factor of 1.3 counts the same for a file of a second and one of a minute.
 *
 * The constants were chosen by simulation. On stationary noise (97 % N(0, 0.1) and 3 % N(0, 0.7) in logarithms) fewer than one series
 * in 400 shows a change. Three builds after a file began to take twice as long, the change is found 97 times of 100; of a factor of
 * 1.3, three times of four after six builds.
 */
export interface ChangePoint {
  /** The index of the first value after the change. */
  index: number;
  /** The usual duration before and after, back to the change before and up to the one after it. */
  before: number;
  after: number;
}

/** A part has at least this many values. */
const MIN_PART = 3;
/** The difference of two parts counts from this many standard errors. */
const MIN_ERRORS = 4.8;
/** A smaller change is none that people care about: 10 %. */
const MIN_STEP = Math.log(1.1);
/** A split that saves less than this many average deviations is not looked at any closer. */
const MIN_SAVING = 7;
/** The usual variance of a duration (10 %), and for how many values it counts beside those of the series. */
const USUAL_VARIANCE = 0.01;
const USUAL_COUNT = 10;
/** All but this share of the values of each part lie on the own side of the middle between both parts. */
const STRAY_SHARE = 0.25;

/** Returns the changes of a series of durations, all greater than 0, in their order. */
export function changePoints(durations: ArrayLike<number>): ChangePoint[] {
  const logs = new Float64Array(durations.length);
  for (let i = 0; i < logs.length; i++) logs[i] = Math.log(durations[i]!);
  const inner = startsOfParts(logs, 0, logs.length);
  if (inner.length === 0) return [];
  const starts = [0, ...inner, logs.length];
  const levels = starts.slice(1).map((end, part) => Math.exp(centreOf(logs.slice(starts[part], end).sort())));
  return inner.map((index, i) => ({ index, before: levels[i]!, after: levels[i + 1]! }));
}

function startsOfParts(logs: Float64Array, from: number, to: number): number[] {
  const split = bestSplit(logs, from, to);
  if (split === null || !isChange(logs.subarray(from, split), logs.subarray(split, to))) return [];
  return [...startsOfParts(logs, from, split), split, ...startsOfParts(logs, split, to)];
}

const COSTS_MAX = 1024;
const costsBefore = new Float64Array(COSTS_MAX);
const sorted = new Float64Array(COSTS_MAX);

/** Returns the index at which the sum of absolute deviations from the medians of both parts is least; null: no split is worth it. */
function bestSplit(logs: Float64Array, from: number, to: number): number | null {
  if (to - from < 2 * MIN_PART || to - from >= COSTS_MAX) return null;
  let cost = 0;
  for (let i = from; i < to; i++) {
    costsBefore[i - from] = cost;
    cost += insert(logs[i]!, i - from);
  }
  const whole = cost;
  let best = null;
  let least = whole;
  cost = 0;
  for (let i = to - 1; i >= from + MIN_PART; i--) {
    cost += insert(logs[i]!, to - 1 - i);
    if (to - i < MIN_PART || costsBefore[i - from]! + cost >= least) continue;
    least = costsBefore[i - from]! + cost;
    best = i;
  }
  return (to - from) * (whole - least) > MIN_SAVING * least ? best : null;
}

/**
 * Inserts a value among `count` sorted ones. Returns by how much the least sum of absolute deviations grows: the distance of the value
 * from the middle one, or from the span between the two middle ones.
 */
function insert(value: number, count: number): number {
  const low = sorted[(count - 1) >> 1]!;
  const high = sorted[count >> 1]!;
  let at = count;
  for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!;
  sorted[at] = value;
  if (count === 0) return 0;
  return value < low ? low - value : value > high ? value - high : 0;
}

/** Tells whether two parts differ more than the noise around them explains, and not because of a few values. */
function isChange(before: Float64Array, after: Float64Array): boolean {
  const [low, high] = [centreOf(before.slice().sort()), centreOf(after.slice().sort())];
  const step = high - low;
  if (Math.abs(step) < MIN_STEP) return false;
  const count = before.length + after.length;
  const deviations = new Float64Array(count);
  for (let i = 0; i < before.length; i++) deviations[i] = Math.abs(before[i]! - low);
  for (let i = 0; i < after.length; i++) deviations[before.length + i] = Math.abs(after[i]! - high);
  const deviation = DEVIATIONS_PER_MAD * deviations.sort()[count >> 1]!;
  const variance = (count * deviation * deviation + USUAL_COUNT * USUAL_VARIANCE) / (count + USUAL_COUNT);
  if (step * step < MIN_ERRORS * MIN_ERRORS * variance * (1 / before.length + 1 / after.length)) return false;
  const middle = low + step / 2;
  const strays = (part: Float64Array, isAbove: boolean) => part.reduce((sum, log) => sum + Number(log > middle !== isAbove), 0);
  return strays(before, step < 0) <= STRAY_SHARE * before.length && strays(after, step > 0) <= STRAY_SHARE * after.length;
}

/** The mean of the middle half of sorted values: as robust as needed, and a fifth more exact than the median. */
function centreOf(values: Float64Array): number {
  const cut = Math.max(values.length > 2 ? 1 : 0, values.length >> 2);
  let sum = 0;
  for (let i = cut; i < values.length - cut; i++) sum += values[i]!;
  return sum / (values.length - 2 * cut);
}
