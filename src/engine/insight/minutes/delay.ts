import type { Span, TimelineFiles } from '../timeline/timeline.js';
import type { Minutes, PartName } from './minutes.js';

const LEAST_MILLISECONDS = 2000;
const LEAST_PART = 0.02;

/** A file stands out when its part of a delay is at least this. */
const MAIN_PART = 0.5;

/** The shortest delay that matters in a build, in milliseconds: 2 seconds, or 2 % of its wall time if that is more. */
export function leastDelay(wall: number): number {
  return Math.max(LEAST_MILLISECONDS, wall * LEAST_PART);
}

/** The part of the minutes, without idle time, to which a node adds most; null: it adds too little to any part. */
export function mainCause({ parts, wall }: Pick<Minutes, 'parts' | 'wall'>, node: number): PartName | null {
  let main: PartName | null = null;
  let most = leastDelay(wall);
  for (const { name, nodes } of parts) {
    const own = nodes.find(({ node_index }) => node_index === node)?.milliseconds ?? 0;
    if (name === 'idle' || own < most || (main !== null && own === most)) continue;
    main = name;
    most = own;
  }
  return main;
}

/** The file of a span that exceeded its estimate most, if by at least half of a delay in milliseconds. */
export function overrunFile({ files: indices, seconds }: Span, { estimates }: TimelineFiles, delay: number): OverrunFile | null {
  let most = (MAIN_PART * delay) / 1000;
  let worst: OverrunFile | null = null;
  for (const [i, file] of indices.entries()) {
    const excess = seconds[i]! - estimates[file]!;
    // NaN compares as false.
    if (!(excess > 0 && excess >= most)) continue;
    most = excess;
    worst = { file, seconds: seconds[i]! };
  }
  return worst;
}

export interface OverrunFile {
  file: number;
  /** How long it took. */
  seconds: number;
}
