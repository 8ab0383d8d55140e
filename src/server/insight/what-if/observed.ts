import { CREDIBLE_PART } from '../../planning/batching/batch-cost.js';
import type { Mode } from '../../planning/estimating/estimate.js';
import { median, medianSlope } from '../../planning/estimating/median.js';
import { isFinished, type NodeLane, type Span, type Timeline } from '../timeline/timeline.js';

/** Facts about files and nodes that the timeline of a CI run shows. Durations are seconds. */
export interface Observed {
  /** By file: the longest of its recorded times; NaN: no node recorded it. */
  seconds: Float64Array;
  /** By file: the index in `lanes` of the node with that time; meaningless where it is NaN. */
  nodes: Uint32Array;
  /** The nodes that started. */
  lanes: NodeLane[];
  /** When each of them started, since the start of the build. */
  starts: Float64Array;
  /** Time that a node loses with each batch. */
  pullCost: number;
  /** Time that a file takes besides its recorded time. */
  hidden: number;
  /** Seconds of test files that a node runs in a second: 1, or more when it runs files side by side. */
  rate: number;
}

/** Spans that are needed to tell the cost of a batch from a rate other than 1. */
const MIN_SPANS = 6;
/** A rate differs from 1 when it does so by this many standard errors. */
const SIGNIFICANT_ERRORS = 3;

export function observe(timeline: Timeline): Observed {
  const lanes = timeline.nodes.filter(({ start }) => start !== null);
  const seconds = new Float64Array(timeline.paths.length).fill(NaN);
  const nodes = new Uint32Array(seconds.length);
  for (const [node, { spans }] of lanes.entries()) {
    for (const span of spans) {
      for (const [i, file] of span.files.entries()) {
        const time = span.seconds[i] ?? null;
        if (time === null || time <= seconds[file]!) continue;
        seconds[file] = time;
        nodes[file] = node;
      }
    }
  }
  const starts = Float64Array.from(lanes, ({ start }) => Math.max(0, start!));
  const hidden = timeline.cost?.hidden ?? 0;
  return { seconds, nodes, lanes, starts, hidden, ...costOfBatches(lanes, hidden) };
}

/** Reports whether a build shows the time that a node loses in a mode: only a queue shows it of each batch. */
export function showsPullCost({ kind }: Pick<Timeline, 'kind'>, mode: Mode): boolean {
  return kind === 'queue' || mode === 'split';
}

/** A finished batch: the seconds of its files, and how long the node had it, without what its files took besides. */
interface Work {
  seconds: number;
  elapsed: number;
}

/**
 * Fits `elapsed = pullCost + seconds / rate` to the finished batches: the slope is the median of those between a smaller and a larger
 * batch, the cost the median of what remains. The slope is 1 unless the batches show another one.
 */
function costOfBatches(lanes: readonly NodeLane[], hidden: number): { pullCost: number; rate: number } {
  const works = lanes.flatMap(({ spans }) => spans.filter(isFinished).map(span => toWork(span, hidden)));
  const slope = slopeOf(works.sort((a, b) => a.seconds - b.seconds));
  const pullCost = Math.max(0, median(works.map(({ seconds, elapsed }) => elapsed - slope * seconds)));
  return { pullCost, rate: 1 / slope };
}

function toWork({ seconds, from, to }: Span, hidden: number): Work {
  return { seconds: seconds.reduce<number>((sum, each) => sum + each!, 0), elapsed: to - from - hidden * seconds.length };
}

/** @param works the smallest first */
function slopeOf(works: readonly Work[]): number {
  const { slope, error } = medianSlope(works.map(({ seconds, elapsed }) => [seconds, elapsed]));
  if (works.length >= MIN_SPANS && slope > CREDIBLE_PART && Math.abs(slope - 1) > SIGNIFICANT_ERRORS * error) return slope;
  // A node needs at least the time of its files, unless it runs them side by side.
  const total = (of: (work: Work) => number) => works.reduce((sum, work) => sum + of(work), 0);
  const part = total(({ elapsed }) => elapsed) / total(({ seconds }) => seconds);
  return part > CREDIBLE_PART && part < 1 ? part : 1;
}
