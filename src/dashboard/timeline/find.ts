import type { Lane } from './lanes.js';

/** Returns the first run of a lane that ends after a time, or the number of runs. */
export function firstAfter({ to }: Pick<Lane, 'to'>, time: number): number {
  let [low, high] = [0, to.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (to[middle]! > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the run at a time, or the one that is nearest within `slack` seconds; null: there is none. */
export function runAt(lane: Lane, time: number, slack: number): number | null {
  const after = firstAfter(lane, time);
  let nearest: number | null = null;
  let distance = slack;
  for (const run of [after - 1, after]) {
    if (run < 0 || run >= lane.to.length) continue;
    const away = Math.max(lane.from[run]! - time, time - lane.to[run]!, 0);
    if (away <= distance) [nearest, distance] = [run, away];
  }
  return nearest;
}
