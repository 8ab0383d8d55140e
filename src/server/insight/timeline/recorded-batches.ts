import { rounded, wholeMilliseconds } from '../../../base/rounding.js';
import type { LearnedCost } from '../../../protocol/answers/minutes.js';
import {
  type BatchCost,
  type BatchSums,
  expectedCost,
  meanWeightOf,
  observedIn,
  type RecordedBatch,
} from '../../planning/batching/batch-cost.js';
import { median, medianSlope } from '../../planning/estimating/median.js';
import { toSeconds, toWeight } from '../../planning/weight.js';
import { isFinished, type Span, type Timeline } from './timeline.js';

/** Sums over the batches of a queue, by the recorded times of their files; null: nothing. */
export function observedInTimeline(timeline: Timeline): BatchSums | null {
  return observedIn(batchesIn(timeline), { setting: settingOf(timeline), learned: null });
}

/** Batches that are needed to tell hidden time from the cost of a pull, and by how many standard errors it must stand out. */
const MIN_BATCHES = 6;
const SIGNIFICANT_ERRORS = 2;

/**
 * Cost of a batch of a queue, by the recorded times of its files; null: no batch shows it. Hidden time is the median slope between smaller and larger
 * batches of the time that their recorded times do not explain, which neither estimates nor speeds of nodes disturb. Where batches are too few, or
 * all as large, the cost is what a project learns from them.
 */
export function recordedCost(timeline: Timeline): LearnedCost | null {
  const batches = batchesIn(timeline);
  const rests = batches.map(({ files, weight, elapsed }) => [files, elapsed - weight] as const).sort(([a], [b]) => a - b);
  const { slope, error, pairs } = medianSlope(rests);
  if (batches.length < MIN_BATCHES || pairs < (rests.length >> 1) / 2) return expectedOf(batches, timeline);
  const hidden = slope > SIGNIFICANT_ERRORS * error ? slope : 0;
  const pullCost = Math.max(0, median(rests.map(([files, rest]) => rest - hidden * files)));
  return toLearnedCost({ pullCost, hidden, slowdown: 1 });
}

function expectedOf(batches: RecordedBatch[], timeline: Timeline): LearnedCost | null {
  const setting = settingOf(timeline);
  const learned = observedIn(batches, { setting, learned: null });
  const prior = { setting, meanWeight: meanWeightOf(batches), isGuessed: false, isCautious: true };
  return learned && toLearnedCost(expectedCost({ ...prior, learned }));
}

/** A cost in seconds, rounded as the costs that batches keep. */
export function toLearnedCost({ pullCost, hidden, slowdown }: BatchCost): LearnedCost {
  return {
    pull_cost: wholeMilliseconds(toSeconds(pullCost)),
    hidden: wholeMilliseconds(toSeconds(hidden)),
    slowdown: rounded(slowdown, 1000),
  };
}

/** Most files of a batch that failed, or could not be loaded, are recorded with 0: it does not tell what files take. */
function isMeasured(span: Span): boolean {
  return isFinished(span) && span.seconds.filter(each => each! > 0).length > span.seconds.length / 2;
}

function batchesIn({ kind, nodes }: Timeline): RecordedBatch[] {
  if (kind !== 'queue') return [];
  return nodes.flatMap(({ spans }) =>
    spans.filter(isMeasured).map(({ seconds, from, to }) => ({
      files: seconds.length,
      weight: toWeight(seconds.reduce<number>((sum, each) => sum + each!, 0)),
      elapsed: toWeight(to - from),
    })),
  );
}

/** Cost of a pull that the planner expected before it had seen a batch: for a project that has learned nothing, the setting. */
function settingOf({ expectedCost: first }: Timeline): number {
  return toWeight(first?.pull_cost ?? 0);
}
