import type { Variant } from '../../../protocol/answers/what-if.js';
import { minuteTicks, secondTicks } from '../../parts/charts/ticks.js';

/** The size of the chart and its margins, in pixels. */
export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Positions of all parts of the chart, in pixels. Wall time has the left axis, node-minutes the right one. Both begin at 0. */
export interface Curve {
  /** By variant: the middle of its column. */
  xs: number[];
  /** By variant: the height of the line, at most that of the frame. */
  ys: number[];
  /** The line of the wall time, as the `d` of a path. */
  line: string;
  bars: { x: number; y: number; width: number; height: number }[];
  /** Variants that a real build measured. */
  measured: { x: number; y: number; nodes: number }[];
  wallTicks: { y: number; seconds: number }[];
  workTicks: { y: number; seconds: number }[];
  /** The height of the target; null: there is none in the frame. */
  targetY: number | null;
  nodeTicks: { x: number; nodes: number }[];
}

/** The axis of the wall time ends at this many times that of the build, so that the numbers of nodes around it can be told apart. */
const MOST_TIMES = 3;

/**
 * Draws variants in the order of their numbers of nodes, one column each. The line leaves the frame where it is far above `usual`, the
 * wall time of the build, in seconds. @param target the wall time to reach; null: none is set
 */
export function curveOf(variants: readonly Variant[], frame: Frame, usual: number, target: number | null = null): Curve {
  const { width, height, left, right, top, bottom } = frame;
  const column = (width - left - right) / Math.max(1, variants.length);
  const floor = height - bottom;
  const most = (values: number[]) => Math.max(...values, 0.001) * 1.06;
  const maxWall = Math.min(most(variants.flatMap(({ wall, measured }) => [wall, measured ?? 0])), MOST_TIMES * Math.max(usual, 0.001));
  const maxWork = most(variants.map(({ job_seconds }) => job_seconds));
  const wallY = (seconds: number) => floor - (seconds / maxWall) * (floor - top);
  const workY = (seconds: number) => floor - (seconds / maxWork) * (floor - top);
  const xs = variants.map((_, i) => left + (i + 0.5) * column);
  const heights = variants.map(({ wall }) => wallY(wall));
  const barWidth = Math.max(1, Math.min(28, column * 0.64));
  const every = Math.ceil(30 / column);
  return {
    xs,
    ys: heights.map(y => Math.max(top, y)),
    line: xs.map((x, i) => `${i === 0 ? 'M' : 'L'}${rounded(x)} ${rounded(heights[i]!)}`).join(''),
    bars: variants.map(({ job_seconds }, i) => {
      const y = workY(job_seconds);
      return { x: rounded(xs[i]! - barWidth / 2), y: rounded(y), width: rounded(barWidth), height: rounded(floor - y) };
    }),
    measured: variants.flatMap(({ nodes, measured }, i) =>
      measured === null || measured > maxWall ? [] : [{ x: xs[i]!, y: wallY(measured), nodes }],
    ),
    targetY: target !== null && target <= maxWall ? wallY(target) : null,
    wallTicks: secondTicks(maxWall).map(seconds => ({ y: wallY(seconds), seconds })),
    workTicks: minuteTicks(maxWork).map(seconds => ({ y: workY(seconds), seconds })),
    nodeTicks: variants.flatMap(({ nodes }, i) => (i % every === 0 ? [{ x: xs[i]!, nodes }] : [])),
  };
}

const rounded = (pixels: number) => Math.round(pixels * 10) / 10;

/** The horizontal position of a number of nodes, which may lie between two columns; null: beyond the last one. */
export function xOf(variants: readonly Variant[], { xs }: Pick<Curve, 'xs'>, nodes: number): number | null {
  const after = variants.findIndex(variant => variant.nodes >= nodes);
  if (after <= 0) return after === 0 ? xs[0]! : null;
  const [low, high] = [variants[after - 1]!.nodes, variants[after]!.nodes];
  return xs[after - 1]! + ((nodes - low) / (high - low)) * (xs[after]! - xs[after - 1]!);
}

/** The index of the column at a horizontal position, the first or last one beyond the chart. */
export function columnAt(x: number, count: number, { width, left, right }: Frame): number {
  const column = (width - left - right) / count;
  return Math.min(count - 1, Math.max(0, Math.floor((x - left) / column)));
}

/** The index to which a key moves the handle; null: the key has no meaning. */
export function columnAfter(key: string, index: number, count: number): number | null {
  const steps: Record<string, number> = {
    ArrowRight: 1,
    ArrowUp: 1,
    ArrowLeft: -1,
    ArrowDown: -1,
    PageUp: 5,
    PageDown: -5,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  return step === undefined ? null : Math.min(count - 1, Math.max(0, index + step));
}

/** The index of the variant with the number of nodes that is nearest to a number, the first one if it is none. */
export function columnOf(variants: readonly Variant[], nodes: number): number {
  let best = 0;
  for (const [i, variant] of variants.entries()) {
    if (Math.abs(variant.nodes - nodes) < Math.abs(variants[best]!.nodes - nodes)) best = i;
  }
  return best;
}
