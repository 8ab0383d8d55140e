import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';

/** The standard deviation of a batch from its prediction: a fraction of its weight, and a minimum. */
const BATCH_ERROR = 0.4;
const MIN_BATCH_ERROR = WEIGHTS_PER_SECOND;
/** The common error that all predictions of a queue may have. */
const SLOPE_ERROR = 0.2;
/** The possible error of the configured cost, as a fraction of it. */
const SETTING_ERROR = 2;
const MAX_FACTOR = 10;
/** Batches further off than this many standard deviations count as if they were at that limit. */
const OUTLIER_DEVIATIONS = 2;

/**
 * Estimates the time that a node loses between two batches. It starts from the setting, and learns from batches of different sizes:
 * a straight line is fitted to actual over predicted durations by weighted least squares, and its intercept is the cost.
 * The setting counts as one observation. All values are weights (see weight.ts).
 */
export class PullCost {
  // The weighted sums of the normal equations, for x = weight and y = elapsed.
  #xx = 1 / SLOPE_ERROR ** 2;
  #x = 0;
  #one: number;
  #xy = 1 / SLOPE_ERROR ** 2;
  #y: number;

  constructor(readonly setting: number) {
    this.#one = 1 / (SETTING_ERROR * Math.max(1, setting)) ** 2;
    this.#y = this.#one * setting;
  }

  /** Adds a batch of this weight that took this long, its pull included. */
  observe(weight: number, elapsed: number): void {
    const variance = (BATCH_ERROR * weight) ** 2 + MIN_BATCH_ERROR ** 2;
    const trust = 1 / variance;
    const { intercept, slope } = this.#line();
    const limit = OUTLIER_DEVIATIONS * Math.sqrt(variance);
    const y = Math.min(limit, Math.max(-limit, elapsed - intercept - slope * weight)) + intercept + slope * weight;
    this.#xx += trust * weight * weight;
    this.#x += trust * weight;
    this.#one += trust;
    this.#xy += trust * weight * y;
    this.#y += trust * y;
  }

  get value(): number {
    return Math.min(MAX_FACTOR * this.setting, Math.max(0, this.#line().intercept));
  }

  #line(): { intercept: number; slope: number } {
    const determinant = this.#xx * this.#one - this.#x * this.#x;
    return {
      intercept: (this.#xx * this.#y - this.#x * this.#xy) / determinant,
      slope: (this.#one * this.#xy - this.#x * this.#y) / determinant,
    };
  }
}
