import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';

/** How far a batch is off what was predicted: in parts of it, and at least. */
const BATCH_ERROR = 0.4;
const MIN_ERROR = WEIGHTS_PER_SECOND;
/** How far all predictions of a queue may be off together. */
const SCALE_ERROR = 0.2;
/** How far the setting may be off, in parts of it. */
const SETTING_ERROR = 2;
const MAX_FACTOR = 10;
/** A batch beyond so many standard deviations says no more than one at them. */
const OUTLIER = 2;

/**
 * What a node loses between two batches: the setting first, then what batches of different sizes tell. A straight line
 * through what they took over what was predicted, by weighted least squares; where it begins is the cost. The setting
 * counts as one more observation. Weights: see weight.ts.
 */
export class PullCost {
  // The sums of the normal equations: of a line's slope and begin.
  #ww = 1 / SCALE_ERROR ** 2;
  #w = 0;
  #one: number;
  #wy = 1 / SCALE_ERROR ** 2;
  #y: number;

  constructor(readonly setting: number) {
    this.#one = 1 / (SETTING_ERROR * Math.max(1, setting)) ** 2;
    this.#y = this.#one * setting;
  }

  /** A batch of this weight took so long, its pull included. One that is far off the line is cut to what is likely. */
  observe(weight: number, took: number): void {
    const variance = (BATCH_ERROR * weight) ** 2 + MIN_ERROR ** 2;
    const trust = 1 / variance;
    const { begin, slope } = this.#line();
    const most = OUTLIER * Math.sqrt(variance);
    const elapsed = Math.min(most, Math.max(-most, took - begin - slope * weight)) + begin + slope * weight;
    this.#ww += trust * weight * weight;
    this.#w += trust * weight;
    this.#one += trust;
    this.#wy += trust * weight * elapsed;
    this.#y += trust * elapsed;
  }

  get value(): number {
    return Math.min(MAX_FACTOR * this.setting, Math.max(0, this.#line().begin));
  }

  #line(): { begin: number; slope: number } {
    const determinant = this.#ww * this.#one - this.#w * this.#w;
    return {
      begin: (this.#ww * this.#y - this.#w * this.#wy) / determinant,
      slope: (this.#one * this.#wy - this.#w * this.#y) / determinant,
    };
  }
}
