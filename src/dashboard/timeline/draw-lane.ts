import { duration } from '../text/format.js';
import { type Bar, barsOf } from './bars.js';
import type { Drawing } from './draw.js';
import { firstAfter } from './find.js';
import { LEFT, laneTop } from './geometry.js';
import { type Lane, RUNNING, UNRECORDED } from './lanes.js';
import { xOf } from './view.js';

/** Draws one lane: what its node did, and its number. */
export function drawLane(drawing: Drawing, index: number, hatch: CanvasPattern): void {
  const { context, picture, geometry, palette } = drawing;
  const { width, laneHeight, barHeight } = geometry;
  const { view, wall, isRunning, last } = picture;
  const lane = picture.lanes[index]!;
  const middle = laneTop(index, geometry) + laneHeight / 2;
  const top = middle - barHeight / 2;
  const isLast = last?.lane === lane;
  context.globalAlpha = picture.nodes && !picture.nodes.has(lane.node) ? 0.25 : 1;

  context.textAlign = 'right';
  context.fillStyle = isLast ? palette.text : palette.quiet;
  context.font = `${isLast ? '600 ' : ''}13px ${palette.font}`;
  context.fillText(String(lane.node), LEFT - 12, middle);

  context.save();
  context.beginPath();
  context.rect(LEFT, top - 4, width, barHeight + 8);
  context.clip();
  context.translate(LEFT, 0);
  const rect = (from: number, to: number, style: string | CanvasPattern) => {
    const [x, end] = [xOf(from, view, width), xOf(to, view, width)];
    if (end < 0 || x > width || end <= x) return;
    context.fillStyle = style;
    context.fillRect(Math.max(x, -1), top, Math.min(end, width + 1) - Math.max(x, -1), barHeight);
  };
  const gap = (from: number, to: number) => {
    const [x, end] = [xOf(from, view, width), xOf(to, view, width)];
    context.fillStyle = palette.edge;
    context.fillRect(x, middle - 1, end - x, 2);
  };
  if (lane.isMissed) rect(0, wall, palette.late);
  else if (lane.start !== null) {
    rect(0, lane.start, palette.late);
    for (const { filesEnd, to } of lane.batches) gap(filesEnd, to);
    if (!isRunning && lane.end !== null) rect(lane.end, wall, hatch);
    const alpha = context.globalAlpha;
    if (picture.matching) context.globalAlpha = alpha * 0.2;
    for (const bar of barsOf(lane, view, width)) drawBar(drawing, bar, top);
    context.globalAlpha = alpha;
    const found = picture.matching?.[index];
    if (found) for (const bar of barsOf(found, view, width)) drawBar(drawing, bar, top);
    drawPieces(drawing, lane, middle);
    drawBatches(drawing, lane, top);
  }
  if (picture.current?.lane === index) drawCurrent(drawing, lane, picture.current.run, top);
  context.restore();

  if (isLast) {
    context.textAlign = 'left';
    context.fillStyle = palette.text;
    context.fillText(`last, +${duration(last.after)}`, LEFT + width + 8, middle);
  }
  context.globalAlpha = 1;
}

/** By how much what failed is higher than the lane, in pixels. */
const HIGHER = 3;

function drawBar({ context, geometry: { barHeight }, palette }: Drawing, { kind, x, width, run }: Bar, top: number): void {
  if (kind === 'unrecorded' || kind === 'running') {
    const isRunning = kind === 'running';
    context.strokeStyle = isRunning ? palette.work : palette.failed;
    context.setLineDash(isRunning ? [] : [3, 2]);
    context.strokeRect(x + 0.5, top + 0.5, Math.max(0, width - 1), barHeight - 1);
    context.setLineDash([]);
    return;
  }
  // A line between two files, where there is room for it. What failed is higher than the lane, and what was flaky only its upper half.
  const line = run !== null && width > 4 ? 1 : 0;
  const rect = (style: string, from: number, to: number) => {
    context.fillStyle = style;
    context.fillRect(x, from, width - line, to - from);
  };
  const [bottom, middle] = [top + barHeight, top + barHeight / 2];
  if (kind === 'flaky') {
    rect(palette.failed, top - HIGHER, middle);
    rect(palette.work, middle, bottom);
  } else if (kind === 'failed') rect(palette.failed, top - HIGHER, bottom + HIGHER);
  else rect(palette[kind], top, bottom);
}

/** Narrower runs have no room for what is written on them. In pixels. */
const ROOM = 36;

/** A piece of a file has its number and count on it. */
function drawPieces({ context, picture, geometry: { width }, palette }: Drawing, lane: Lane, middle: number): void {
  const { pieces, view } = picture;
  if (pieces.size === 0) return;
  context.textAlign = 'center';
  for (let run = firstAfter(lane, view.from); run < lane.to.length && lane.from[run]! < view.to; run++) {
    const text = pieces.get(lane.file[run]!);
    const [x, end] = [Math.max(0, xOf(lane.from[run]!, view, width)), Math.min(width, xOf(lane.to[run]!, view, width))];
    if (text === undefined || end - x < ROOM) continue;
    context.fillStyle = lane.flags[run]! & (UNRECORDED | RUNNING) ? palette.text : palette.ground;
    context.fillText(text, (x + end) / 2, middle);
  }
}

/** The begin of a batch is a tick; a repeated batch has an arrow. */
function drawBatches({ context, picture: { view }, geometry, palette }: Drawing, { batches }: Lane, top: number): void {
  const { width, barHeight } = geometry;
  let free = -Infinity;
  for (const { from, to, isRepeat } of batches) {
    if (to < view.from || from > view.to) continue;
    const x = xOf(from, view, width);
    // Ticks that are closer than this would be a fence.
    if (x - free >= 12) {
      context.fillStyle = palette.text;
      context.fillRect(x, top - 3, 1, barHeight + 6);
      free = x;
    }
    if (!isRepeat) continue;
    context.textAlign = 'left';
    context.fillStyle = palette.ground;
    context.fillText('↺', x + 4, top + barHeight / 2);
  }
}

function drawCurrent({ context, picture: { view }, geometry, palette }: Drawing, lane: Lane, run: number, top: number): void {
  const { width, barHeight } = geometry;
  const x = xOf(lane.from[run]!, view, width);
  const end = Math.max(x + 2, xOf(lane.to[run]!, view, width));
  context.strokeStyle = palette.ground;
  context.lineWidth = 4;
  context.strokeRect(x - 1, top - 1, end - x + 2, barHeight + 2);
  context.strokeStyle = palette.focus;
  context.lineWidth = 2;
  context.strokeRect(x - 1, top - 1, end - x + 2, barHeight + 2);
  context.lineWidth = 1;
}
