import { axisLabels } from './axis-labels.js';
import { drawLane } from './draw-lane.js';
import { AXIS_HEIGHT, type Geometry, LEFT, lanesInSight } from './geometry.js';
import type { Lane } from './lanes.js';
import type { Palette } from './palette.js';
import { type Span, xOf } from './view.js';

/** Contents of the drawing. */
export interface Picture {
  lanes: readonly Lane[];
  wall: number;
  floor: number;
  isRunning: boolean;
  last: { lane: Lane; after: number } | null;
  view: Span;
  selected: Span | null;
  /** Texts on the runs of pieces, by file. */
  pieces: ReadonlyMap<number, string>;
  /** The run under the mouse or with the focus. */
  current: { lane: number; run: number } | null;
  /** The lanes with only the runs that a search found, the others are dim; null: there is no search. */
  matching: readonly Lane[] | null;
  /** Emphasised nodes; null: all. */
  nodes: ReadonlySet<number> | null;
}

/** A picture, and what it is drawn with. */
export interface Drawing {
  context: CanvasRenderingContext2D;
  picture: Picture;
  geometry: Geometry;
  palette: Palette;
}

/** Draws the lanes in sight, and the axis above them. */
export function draw(drawing: Drawing): void {
  const { context, picture, geometry, palette } = drawing;
  const { width, height } = geometry;
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  context.font = `13px ${palette.font}`;
  context.textBaseline = 'middle';
  const { first, end } = lanesInSight(geometry, picture.lanes.length);
  const hatch = hatchOf(context, palette.idle);
  context.save();
  context.beginPath();
  context.rect(0, AXIS_HEIGHT, LEFT + width + 200, height - AXIS_HEIGHT);
  context.clip();
  for (let i = first; i < end; i++) drawLane(drawing, i, hatch);
  context.restore();
  drawAxis(drawing);
  if (picture.selected) drawSelection(drawing, picture.selected);
}

function drawAxis({ context, picture, geometry, palette }: Drawing): void {
  const { view, floor, wall, isRunning } = picture;
  const { width, height } = geometry;
  // The floor is known when the build has ended.
  const labels = axisLabels(view, width, isRunning ? null : floor, text => context.measureText(text).width);
  context.textAlign = 'center';
  context.fillStyle = palette.quiet;
  for (const { text, x } of labels.ticks) {
    context.fillText(text, LEFT + x, 10);
    context.fillRect(Math.round(LEFT + x), AXIS_HEIGHT - 8, 1, 4);
  }
  if (labels.floor) {
    context.fillStyle = palette.text;
    context.fillText(labels.floor.text, LEFT + labels.floor.x, 10);
    line(context, LEFT + xOf(floor, view, width), AXIS_HEIGHT - 8, height, palette.text, [4, 3]);
  }
  if (isRunning && wall <= view.to) line(context, LEFT + xOf(wall, view, width), AXIS_HEIGHT - 4, height, palette.edge, []);
}

function drawSelection({ context, picture: { view }, geometry: { width, height }, palette }: Drawing, { from, to }: Span): void {
  const x = LEFT + Math.max(0, xOf(from, view, width));
  const end = LEFT + Math.min(width, xOf(to, view, width));
  if (end < LEFT || x > LEFT + width) return;
  context.globalAlpha = 0.12;
  context.fillStyle = palette.text;
  context.fillRect(x, AXIS_HEIGHT - 4, end - x, height - AXIS_HEIGHT + 4);
  context.globalAlpha = 1;
  line(context, x, AXIS_HEIGHT - 4, height, palette.text, []);
  line(context, end, AXIS_HEIGHT - 4, height, palette.text, []);
}

function line(context: CanvasRenderingContext2D, x: number, from: number, to: number, style: string, dash: number[]): void {
  context.strokeStyle = style;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, from);
  context.lineTo(Math.round(x) + 0.5, to);
  context.stroke();
  context.setLineDash([]);
}

/** Thin lines from the lower left to the upper right. */
function hatchOf(context: CanvasRenderingContext2D, colour: string): CanvasPattern {
  const tile = new OffscreenCanvas(8, 8);
  const pattern = tile.getContext('2d')!;
  pattern.strokeStyle = colour;
  pattern.beginPath();
  for (const shift of [-8, 0, 8]) {
    pattern.moveTo(shift - 1, 9);
    pattern.lineTo(shift + 9, -1);
  }
  pattern.stroke();
  return context.createPattern(tile, 'repeat')!;
}
