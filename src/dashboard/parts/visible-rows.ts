/** The rows, among many, that are drawn. */
export interface RowRange {
  first: number;
  /** After the last. */
  end: number;
}

/** Rows beyond the edges of the window that are drawn as well, so that a key or a wheel does not show a gap. */
const SPARE = 20;

/**
 * Returns the rows of a list that are within a window. `offset` is the distance of the window's top from the top of the first row, in
 * pixels; negative: the list begins below it.
 */
export function rowsInWindow(rows: number, rowHeight: number, offset: number, windowHeight: number): RowRange {
  const first = Math.max(0, Math.floor(offset / rowHeight) - SPARE);
  const end = Math.min(rows, Math.ceil((offset + windowHeight) / rowHeight) + SPARE);
  return { first: Math.min(first, rows), end: Math.max(end, Math.min(first, rows)) };
}
