import type { Span } from './view.js';

/** Positions of the parts of the drawing, in pixels. */
export interface Geometry {
  /** Of the time axis, without the margins. */
  width: number;
  laneHeight: number;
  /** Of the bars within a lane. */
  barHeight: number;
  /** Distance by which the lanes are scrolled. */
  scroll: number;
  /** Of the canvas. */
  height: number;
}

/** Left of the axis: the numbers of the nodes. */
export const LEFT = 36;
export const AXIS_HEIGHT = 28;
/** Beyond so many nodes, lanes are narrow, and not all of them are in sight. */
export const MANY_NODES = 32;

/** The height of a lane and of its bars. */
export function laneSize(nodes: number): { laneHeight: number; barHeight: number } {
  return nodes > MANY_NODES ? { laneHeight: 16, barHeight: 12 } : { laneHeight: 28, barHeight: 20 };
}

/** Returns the index of the lane at a height of the canvas; null: the axis, or below the last lane. */
export function laneAt(y: number, { laneHeight, scroll }: Geometry, lanes: number): number | null {
  const lane = Math.floor((y - AXIS_HEIGHT + scroll) / laneHeight);
  return y < AXIS_HEIGHT || lane < 0 || lane >= lanes ? null : lane;
}

/** Returns the top of a lane on the canvas. */
export function laneTop(lane: number, { laneHeight, scroll }: Geometry): number {
  return AXIS_HEIGHT + lane * laneHeight - scroll;
}

/** The lanes on the canvas: from the first, to before the end. */
export function lanesInSight({ laneHeight, scroll, height }: Geometry, lanes: number): { first: number; end: number } {
  return {
    first: Math.max(0, Math.floor(scroll / laneHeight)),
    end: Math.min(lanes, Math.ceil((scroll + height - AXIS_HEIGHT) / laneHeight)),
  };
}

/** Right of the axis: what the last node is, where there is room for it. */
export function rightMargin(width: number): number {
  return width < 640 ? 8 : 124;
}

/** Seconds by which a finger or a mouse may be off. */
export function slackOf({ from, to }: Span, width: number): number {
  return (3 * (to - from)) / width;
}
