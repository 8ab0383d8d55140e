import { clock, exactTime } from '../../text/format.js';

const STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200,
];

const upTo = (max: number, step: number) => Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => i * step);

/** Round durations from 0 to `max` seconds for an axis, about `count` of them. */
export function secondTicks(max: number, count = 5): number[] {
  return upTo(max, secondStep(max, count));
}

/** A round duration of which at most `count` fit into `length` seconds. */
export function secondStep(length: number, count: number): number {
  return STEPS.find(seconds => length / seconds <= count) ?? 86_400 * Math.ceil(length / 86_400 / count);
}

/** The same in round minutes (1, 2 or 5 times a power of ten), in seconds. */
export const minuteTicks = (max: number, count = 5): number[] => numberTicks(max / 60, count).map(minutes => minutes * 60);

/** Round numbers from 0 to `max`, at most `count` steps. */
export function numberTicks(max: number, count = 5): number[] {
  const power = 10 ** Math.floor(Math.log10(max / count));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => max / size <= count)!;
  return upTo(max, step);
}

const DAY = 86_400;
/** Steps between the dates of an axis, in seconds. */
export const dateSteps = [1, 2, 7, 14, 28, 56, 112].map(days => days * DAY);

/** Labels for times of an axis, in order: the date, or the time of day after a label of the same date. */
export function dateLabels(times: readonly string[]): string[] {
  const dates = times.map(time => exactTime(time).slice(0, 10));
  return times.map((time, i) => (dates[i] === dates[i - 1] ? clock(time) : dates[i]!));
}
