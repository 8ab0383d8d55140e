import { secondStep } from '../parts/charts/ticks.js';
import { duration, offset } from '../text/format.js';
import { type Span, xOf } from './view.js';

export interface AxisLabel {
  text: string;
  /** Its middle, in pixels from the start of the axis. */
  x: number;
}

/** Free space beside a label, in pixels. */
const GAP = 8;
/** Distances by which a label may reach beyond the start and the end of the axis, in pixels. */
const BEYOND = { start: 36, end: 8 };

/**
 * Labels above the axis: times at round steps, and the floor where it is in sight. A time without room beside the floor has no text.
 *
 * @param floor in seconds; null: not known
 * @param widthOf the width of a text, in pixels
 */
export function axisLabels(
  view: Span,
  width: number,
  floor: number | null,
  widthOf: (text: string) => number,
): { ticks: AxisLabel[]; floor: AxisLabel | null } {
  const label = floor !== null && floor >= view.from && floor <= view.to ? floorLabel(floor, view, width, widthOf) : null;
  const step = secondStep(view.to - view.from, Math.max(1, Math.floor(width / 96)));
  const ticks: AxisLabel[] = [];
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    const [text, x] = [offset(time, step), xOf(time, view, width)];
    const isCovered = label && Math.abs(x - label.x) < (widthOf(text) + widthOf(label.text)) / 2 + GAP;
    ticks.push({ text: isCovered ? '' : text, x });
  }
  return { ticks, floor: label };
}

function floorLabel(floor: number, view: Span, width: number, widthOf: (text: string) => number): AxisLabel {
  const text = `floor ${duration(floor)}`;
  const half = widthOf(text) / 2;
  return { text, x: Math.max(half - BEYOND.start, Math.min(xOf(floor, view, width), width + BEYOND.end - half)) };
}
