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
function numberTicks(max: number, count = 5): number[] {
  const power = 10 ** Math.floor(Math.log10(max / count));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => max / size <= count)!;
  return upTo(max, step);
}
