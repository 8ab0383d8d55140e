import { type Level, secondsOf, updateLevel } from '../../src/server/planning/estimating/level.js';

/** Estimates the next time of a path from its earlier times. */
export interface Estimator {
  add(seconds: number, at: number): void;
  /** Returns seconds. Called only after the first `add`. */
  estimate(): number;
}

export const ballast = (): Estimator => {
  let level: Level | null = null;
  return {
    add: (seconds, at) => (level = updateLevel(level, seconds, at)),
    estimate: () => secondsOf(level!),
  };
};

/** An exponentially weighted moving average. `weight` is that of the last time. */
export const movingAverage = (weight: number) => (): Estimator => {
  let mean: number | null = null;
  return {
    add: seconds => (mean = mean === null ? seconds : mean + weight * (seconds - mean)),
    estimate: () => mean!,
  };
};

/** The mean, and the median, of the last `count` times. */
export const meanOf = (count: number) => overLast(count, times => times.reduce((sum, time) => sum + time, 0) / times.length);
export const medianOf = (count: number) => overLast(count, times => times.toSorted((a, b) => a - b)[times.length >> 1]!);

function overLast(count: number, combine: (times: readonly number[]) => number): () => Estimator {
  return () => {
    const times: number[] = [];
    return {
      add: seconds => {
        times.push(seconds);
        if (times.length > count) times.shift();
      },
      estimate: () => combine(times),
    };
  };
}
