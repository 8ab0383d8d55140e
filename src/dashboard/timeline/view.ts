/** A span of time, in seconds since the start of the build. */
export interface Span {
  from: number;
  to: number;
}

/** No view is shorter than this many seconds. */
const SHORTEST = 0.02;
/** Room after the last node. */
const ROOM = 1.02;

/**
 * Returns when the axis of a build ends. While the build runs it ends at a round time, which stays the same for a while: nothing moves
 * with each look.
 */
export function axisEnd(wall: number, floor: number, isRunning: boolean): number {
  const end = Math.max(wall, floor, 1);
  if (!isRunning) return end * ROOM;
  const step = 2 ** Math.floor(Math.log2(end / 4));
  return (Math.floor(end / step) + 1) * step;
}

/** Returns the pixel of a time in a view that is `width` pixels wide. */
export function xOf(time: number, { from, to }: Span, width: number): number {
  return ((time - from) / (to - from)) * width;
}

/** Returns the time at a pixel. */
export function timeAt(x: number, { from, to }: Span, width: number): number {
  return from + (x / width) * (to - from);
}

/** Returns a view that shows `factor` as much time, with the time `at` where it was, and within 0 and `end`. */
export function zoom(view: Span, at: number, factor: number, end: number): Span {
  const length = Math.min(end, Math.max(SHORTEST, (view.to - view.from) * factor));
  const share = (at - view.from) / (view.to - view.from);
  return within({ from: at - share * length, to: at + (1 - share) * length }, end);
}

/** Returns a view moved by a part of its length, within 0 and `end`. */
export function pan(view: Span, share: number, end: number): Span {
  const by = share * (view.to - view.from);
  return within({ from: view.from + by, to: view.to + by }, end);
}

/** Returns a view that shows a time: itself, or moved so far that the time is within it. */
export function reveal(view: Span, { from, to }: Span, end: number): Span {
  const margin = (view.to - view.from) / 20;
  // The beginning of a run is seen, even if it is longer than the view.
  const by = from < view.from ? from - margin - view.from : to > view.to ? Math.min(to + margin - view.to, from - view.from) : 0;
  return by === 0 ? view : within({ from: view.from + by, to: view.to + by }, end);
}

function within({ from, to }: Span, end: number): Span {
  const length = Math.min(to - from, end);
  const start = Math.min(Math.max(0, from), end - length);
  return { from: start, to: start + length };
}

/** Reads a span as it stands in the address (`250-360.5`). Null: there is none, or it is not one. */
export function parseSpan(text: string | null): Span | null {
  const [, from, to] = /^(\d{1,9}(?:\.\d{1,3})?)-(\d{1,9}(?:\.\d{1,3})?)$/.exec(text ?? '') ?? [];
  const span = { from: Number(from), to: Number(to) };
  return span.to - span.from >= SHORTEST ? span : null;
}

/** Writes a span for the address, in whole milliseconds. */
export function spanText({ from, to }: Span): string {
  return `${Number(from.toFixed(3))}-${Number(to.toFixed(3))}`;
}
