import { follow, type Level, secondsOf } from '../../src/plan/times/level.js';

/** What estimates the next time of one path, from those before. */
export interface Estimator {
  add(seconds: number, at: number): void;
  /** In seconds; asked after the first time only. */
  estimate(): number;
}

export const ballast = (): Estimator => {
  let level: Level | null = null;
  return {
    add: (seconds, at) => (level = follow(level, seconds, at)),
    estimate: () => secondsOf(level!),
  };
};

/** Exponentially weighted moving average; with a part of 1 the last time. */
export const average = (part: number) => (): Estimator => {
  let mean: number | null = null;
  return {
    add: seconds => (mean = mean === null ? seconds : mean + part * (seconds - mean)),
    estimate: () => mean!,
  };
};

/** Of the last so many times. */
export const meanOf = (count: number) => ofLast(count, times => times.reduce((sum, time) => sum + time, 0) / times.length);
export const medianOf = (count: number) =>
  ofLast(count, times => times.toSorted((a, b) => a - b)[times.length >> 1]!);

function ofLast(count: number, combine: (times: readonly number[]) => number): () => Estimator {
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
