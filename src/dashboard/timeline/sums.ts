import { firstAfter } from './find.js';
import type { Lane } from './lanes.js';
import type { Span } from './view.js';

export type SumBy = 'directory' | 'file' | 'node';

/** The runs of a directory, a file or a node within a span. */
export interface Sum {
  /** The directory or path, or the number of the node. */
  name: string;
  /** Seconds of node time within the span: a run that is only partly in it counts in part. */
  seconds: number;
  /** Of all runs within the span, from 0 to 1. */
  share: number;
  files: number;
}

export interface SpanSums {
  seconds: number;
  files: number;
  /** The longest first. */
  rows: Sum[];
}

/** Adds up what ran within a span of time. */
export function sumSpan(lanes: readonly Lane[], paths: readonly string[], { from, to }: Span, by: SumBy): SpanSums {
  const rows = new Map<string, { seconds: number; files: Set<number> }>();
  const files = new Set<number>();
  let total = 0;
  for (const lane of lanes) {
    for (let run = firstAfter(lane, from); run < lane.to.length && lane.from[run]! < to; run++) {
      const seconds = Math.min(to, lane.to[run]!) - Math.max(from, lane.from[run]!);
      const file = lane.file[run]!;
      const path = paths[file]!;
      const name = by === 'node' ? String(lane.node) : by === 'file' ? path : directoryOf(path);
      let row = rows.get(name);
      if (!row) rows.set(name, (row = { seconds: 0, files: new Set() }));
      row.seconds += seconds;
      row.files.add(file);
      files.add(file);
      total += seconds;
    }
  }
  const sums = [...rows].map(([name, { seconds, files }]) => ({
    name,
    seconds,
    share: total > 0 ? seconds / total : 0,
    files: files.size,
  }));
  return { seconds: total, files: files.size, rows: sums.sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1)) };
}

/** The directory of a path, without the slash at its end; `.` for a path without one. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '.' : path.slice(0, slash) || '/';
}
