import { WEIGHTS_PER_SECOND } from '../weight.js';

/**
 * The cost of a batch for a node of usual speed: pullCost + hidden x files + slowdown x weight. All but the slowdown are weights (see
 * weight.ts).
 */
export interface BatchCost {
  /** The start of the test runner, and the pull. */
  pullCost: number;
  /** The time that a file takes besides the time in its reports: imports, fixtures, compilation. */
  hidden: number;
  /** Actual over predicted duration of the files. */
  slowdown: number;
}

/**
 * Finished batches, as the weighted sums of the normal equations for x = (1, files, weight) and y = elapsed, in seconds:
 * [11, 1f, 1w, ff, fw, ww, y1, yf, yw], and the number of batches.
 */
export type BatchSums = readonly number[];

/** The knowledge about a queue or split before its first batch. */
export interface CostPrior {
  /** The configured cost of a pull, as a weight; null: this is a split, whose nodes start once. */
  setting: number | null;
  /** The mean weight of a file. */
  meanWeight: number;
  /** Most files were never measured: nothing is known of them that earlier queues tell. */
  isGuessed: boolean;
  /** The observations of earlier queues, or splits, of the project; null: none. */
  learned: BatchSums | null;
  /** Hidden time counts only if it stands out of its error (default: as for splits, whose nodes have much the same number of files). */
  isCautious?: boolean;
}

/** When batches take less than this part of the prediction, the server's clock does not measure the nodes' time. */
export const CREDIBLE_PART = 0.05;

/** The standard deviation of a batch from its cost: a part of what its files take, and a minimum in seconds. */
const BATCH_ERROR = 0.2;
const MIN_BATCH_ERROR = 0.5;
/** Batches further off than this many standard deviations count as if they were at that limit. */
const OUTLIER_DEVIATIONS = 2.5;

/**
 * The hidden time that a queue expects of a file, as a part of a mean estimate. Long files run first, so batches show hidden time only
 * when most of the work is handed out. Builds without hidden time lose less by this than builds with some gain (`npm run bench -- planning`).
 */
const HIDDEN_PART = 0.12;
/**
 * The standard deviations of the priors: of the pull's cost over its setting, of the hidden time over a mean file (and seconds in addition),
 * of the slowdown.
 */
const SETTING_ERROR = 3;
const HIDDEN_ERROR = 0.5;
const HIDDEN_SECONDS = 0.1;
const SLOWDOWN_ERROR = 0.3;
const MIN_SETTING_SECONDS = 0.5;

// Where most files are guesses. Guesses are too rough to tell hidden time from slowdown, so it counts as that.
/** The standard deviation of a batch of one file, as a part of its work; of n files it is smaller by the root of n. */
const GUESS_ERROR = 1.5;
/** The standard deviation of the slowdown. */
const GUESSED_SLOWDOWN_ERROR = 100;
/** The most of a short batch that is its pull. */
const MAX_PULL_PART = 0.9;

/** The seconds that a node of a split is expected to lose before its first file: the start of the runner, of services, of a database. */
const SPLIT_START = 10;
/** Where caution is due, hidden time of fewer standard deviations than this counts as 0. */
const CAUTIOUS_DEVIATIONS = 0.6;

const MIN_SLOWDOWN = 0.001;

/** The number of times that recorded batches are fitted, each time with less cut off from those that took far longer than expected before. */
const PASSES = 12;

/** A queue starts with at most this many batches of earlier ones, and a project keeps at most that many. */
const LEARNED_BATCHES = 40;
const KEPT_BATCHES = 100;

const BATCHES = 9;

/**
 * Learns what a batch costs from those that are finished, by weighted least squares: the priors count like batches. A batch far off
 * counts less, and all coefficients are at least 0.
 */
export class CostEstimate {
  /** The priors and all batches. */
  readonly #sums: number[];
  /** The batches since `takeObserved`. */
  #observed: number[] | null = null;
  /** Null: it was not calculated since the last batch. */
  #cost: BatchCost | null = null;
  readonly #isGuessed: boolean;
  /** Hidden time of fewer standard deviations than this counts as 0. */
  readonly #leastDeviations: number;
  /** The shortest batch and the next one, in seconds: one alone may be a runner that failed at once. */
  #shortest: [number, number] = [Infinity, Infinity];

  constructor({ setting, meanWeight, isGuessed, learned, isCautious = setting === null }: CostPrior) {
    const seconds = setting === null ? SPLIT_START : setting / WEIGHTS_PER_SECOND;
    const meanSeconds = meanWeight / WEIGHTS_PER_SECOND;
    const pull = (SETTING_ERROR * Math.max(MIN_SETTING_SECONDS, seconds)) ** -2;
    const hidden = (HIDDEN_ERROR * meanSeconds + HIDDEN_SECONDS) ** -2;
    const hiddenPart = isCautious ? 0 : HIDDEN_PART;
    const slowdown = (isGuessed ? GUESSED_SLOWDOWN_ERROR : SLOWDOWN_ERROR) ** -2;
    const prior = [pull, 0, 0, hidden, 0, slowdown, pull * seconds, hidden * hiddenPart * meanSeconds, slowdown, 0];
    this.#isGuessed = isGuessed;
    // No batch has shown hidden time yet, so the estimates stand alone.
    if (!learned) this.#cost = { pullCost: seconds * WEIGHTS_PER_SECOND, hidden: 0, slowdown: 1 };
    this.#leastDeviations = isCautious ? CAUTIOUS_DEVIATIONS : 0;
    this.#sums = learned && !isGuessed ? add(prior, scaledTo(LEARNED_BATCHES, learned)) : prior;
  }

  get cost(): BatchCost {
    return (this.#cost ??= this.#fit());
  }

  /** Tells whether a batch of this queue has ended. */
  get hasMeasured(): boolean {
    return this.#shortest[0] < Infinity;
  }

  /** Returns what it observed since the last call, once; null: nothing. */
  takeObserved(): BatchSums | null {
    const observed = this.#observed;
    this.#observed = null;
    return observed;
  }

  /** Notes how long a batch took, whether or not it is observed: a pull takes no longer. */
  limitPull(elapsed: number): void {
    const [first, second] = this.#shortest;
    const seconds = elapsed / WEIGHTS_PER_SECOND;
    this.#shortest = [Math.min(first, seconds), Math.min(second, Math.max(first, seconds))];
    // The shortest batch limits only the pull of guesses.
    if (this.#isGuessed) this.#cost = null;
  }

  /** Adds a batch of so many files and this weight that took this long, its pull included. */
  observe(files: number, weight: number, elapsed: number): void {
    const { pullCost, hidden, slowdown } = this.cost;
    const work = hidden * files + slowdown * weight;
    const error = this.#isGuessed ? GUESS_ERROR / Math.sqrt(files) : BATCH_ERROR;
    const deviation = Math.hypot(error * work, MIN_BATCH_ERROR * WEIGHTS_PER_SECOND);
    const limit = this.#isGuessed ? Infinity : OUTLIER_DEVIATIONS * deviation;
    const expected = pullCost + work;
    const y = (expected + Math.min(limit, Math.max(-limit, elapsed - expected))) / WEIGHTS_PER_SECOND;
    const w = weight / WEIGHTS_PER_SECOND;
    const trust = (deviation / WEIGHTS_PER_SECOND) ** -2;
    const [one, f, ww] = [trust, trust * files, trust * w];
    const batch = [one, f, ww, f * files, f * w, ww * w, one * y, f * y, ww * y, 1];
    addTo(this.#sums, batch);
    if (!this.#isGuessed && this.#observed) addTo(this.#observed, batch);
    else if (!this.#isGuessed) this.#observed = batch;
    this.#cost = null;
  }

  #fit(): BatchCost {
    const [a, b, c, d, e, f, p, q, r] = this.#sums as unknown as Sums;
    // The inverse of the symmetric matrix [a b c; b d e; c e f], times its determinant.
    const [i00, i01, i02] = [d * f - e * e, c * e - b * f, b * e - c * d];
    const [i11, i12] = [a * f - c * c, b * c - a * e];
    const determinant = a * i00 + b * i01 + c * i02;
    let hidden = (i01 * p + i11 * q + i12 * r) / determinant;
    if (this.#isGuessed || !(hidden > this.#leastDeviations * Math.sqrt(i11 / determinant))) hidden = 0;
    // The other two, with the hidden time as it is now.
    const [y, z] = [p - b * hidden, r - e * hidden];
    const fitted = Math.max(0, (f * y - c * z) / (a * f - c * c));
    const [first, second] = this.#shortest;
    const pull = this.#isGuessed ? Math.min(fitted, MAX_PULL_PART * (second < Infinity ? second : first)) : fitted;
    const slowdown = Math.max(MIN_SLOWDOWN, (z - c * pull) / f);
    return { pullCost: pull * WEIGHTS_PER_SECOND, hidden: hidden * WEIGHTS_PER_SECOND, slowdown };
  }
}

/** The expected cost of a batch before the first batch of a queue has ended. */
export function expectedCost(prior: CostPrior): BatchCost {
  return new CostEstimate(prior).cost;
}

/** The time that files should take a node of usual speed, in the unit of the hidden time and of their estimates: no less than the estimates. */
export function expectedTime(files: number, estimate: number, { hidden, slowdown }: Omit<BatchCost, 'pullCost'>): number {
  return Math.max(1, slowdown) * estimate + hidden * files;
}

/** A finished batch, by the recorded times of its files. Times are weights. */
export interface RecordedBatch {
  files: number;
  weight: number;
  elapsed: number;
}

/** The observations of batches whose files are recorded; null: none, because there are no batches, or all took far less than was recorded. */
export function observedIn(
  batches: readonly RecordedBatch[],
  { setting, learned }: Pick<CostPrior, 'setting' | 'learned'>,
): BatchSums | null {
  const meanWeight = meanWeightOf(batches);
  const observe = (known: BatchSums | null) => {
    const estimate = new CostEstimate({ setting, meanWeight, isGuessed: false, learned: known });
    for (const { files, weight, elapsed } of batches) if (elapsed >= CREDIBLE_PART * weight) estimate.observe(files, weight, elapsed);
    return estimate.takeObserved();
  };
  // Most of what looks like an outlier at first may be the rule. One batch alone is none.
  let sums = learned;
  for (let pass = 0; pass < (batches.length > 1 ? PASSES : 1); pass++) sums = observe(sums);
  return sums;
}

/** The mean weight of the files of batches. */
export function meanWeightOf(batches: readonly RecordedBatch[]): number {
  const sum = (of: (batch: RecordedBatch) => number) => batches.reduce((total, batch) => total + of(batch), 0);
  return sum(({ weight }) => weight) / sum(({ files }) => files);
}

/** The time that files should take a node of usual speed, as whole weights, with the time that reports omit. The order of the files stays. */
export function withHidden(weights: Float64Array, { hidden, slowdown }: Omit<BatchCost, 'pullCost'>): Float64Array {
  return weights.map(weight => Math.max(1, Math.round(hidden + slowdown * weight)));
}

type Sums = [number, number, number, number, number, number, number, number, number];

/** Tells whether a project that has learned this gains by the batches of an ended build. Reading the build again adds nothing. */
export function tellsMore(observed: BatchSums, learned: BatchSums | null): boolean {
  return Math.min(KEPT_BATCHES, observed[BATCHES]!) > (learned?.[BATCHES] ?? 0);
}

/** The observations that a project keeps when one of its queues has observed more: the older a batch, the less it counts. */
export function keep(kept: BatchSums | null, observed: BatchSums): BatchSums {
  return scaledTo(KEPT_BATCHES, kept ? add(kept, observed) : observed);
}

/** Adds in place: every pull does that. */
function addTo(sums: number[], more: BatchSums): void {
  for (let i = 0; i < sums.length; i++) sums[i]! += more[i]!;
}

function add(sums: BatchSums, more: BatchSums): number[] {
  return sums.map((sum, i) => sum + more[i]!);
}

function scaledTo(most: number, sums: BatchSums): BatchSums {
  const factor = Math.min(1, most / sums[BATCHES]!);
  return sums.map(sum => sum * factor);
}
