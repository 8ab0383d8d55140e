import { busyTime, type NodeWork, type Work } from './executions.js';

/** The wall time of one node in parts, in seconds. late + work + repeats + unreported + gaps + idle is the wall time of the build, or 0 for a node that is not counted. */
export interface NodeMinutes {
  node_index: number;
  /** Until its first request. All of the wall time, when it never started and is counted. */
  late: number;
  /** First recorded executions of files. */
  work: number;
  /** Files that had run before, files that ran elsewhere, and what is left of the build of a lost node. */
  repeats: number;
  /** Time that its files took besides their recorded times, as far as it is known. */
  unreported: number;
  /** The rest of each span, and the time between spans. */
  gaps: number;
  /** After its end. */
  idle: number;
  /** Its duration relative to its estimates and to the other nodes; null: unknown. */
  slowness: number | null;
  /** True if the node recorded nothing after its last files, and cannot be at work. */
  isLost: boolean;
  /** Its files took longer together than it had them, as with parallel test runners. Their times are scaled down to fit. */
  isScaled: boolean;
}

/** Rounded times may be scaled down by a factor between this and 1. */
const SCALE_OF_ROUNDING = 0.99;

/**
 * @param hidden seconds that each file takes besides its recorded time; 0: unknown, or none
 * @param isAbsenceLate nodes that never started are counted, see `countedNodes`
 */
export function nodeMinutes(
  { lane, works, isLost }: NodeWork,
  { wall, hidden, isAbsenceLate }: { wall: number; hidden: number; isAbsenceLate: boolean },
  slowness: number | null,
): NodeMinutes {
  const { node_index, start, end } = lane;
  const none = { work: 0, repeats: 0, unreported: 0, gaps: 0, idle: 0 };
  if (start === null) return { node_index, late: isAbsenceLate ? wall : 0, ...none, slowness, isLost, isScaled: false };
  const sum = (part: (work: Work) => number) => works.reduce((total, work) => total + part(work), 0);
  const work = sum(({ executions }) => busyTime(executions, ({ isRepeat }) => !isRepeat));
  const repeats = sum(({ executions }) => busyTime(executions, ({ isRepeat }) => isRepeat));
  const between = Math.max(0, end! - start - work - repeats);
  const files = sum(({ executions }) => executions.filter(({ seconds }) => seconds !== null).length);
  const unreported = Math.min(between, hidden * files);
  const tail = wall - end!;
  return {
    node_index,
    late: start,
    work,
    repeats: repeats + (isLost ? tail : 0),
    unreported,
    gaps: between - unreported,
    idle: isLost ? 0 : tail,
    slowness,
    isLost,
    isScaled: works.some(({ scale }) => scale < SCALE_OF_ROUNDING),
  };
}
