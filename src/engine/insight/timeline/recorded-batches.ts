import {
  type BatchCost,
  type BatchSums,
  expectedCost,
  meanWeightOf,
  observedIn,
  type RecordedBatch,
} from '../../../planning/batching/batch-cost.js';
import { toSeconds, toWeight } from '../../../planning/weight.js';
import type { LearnedCost } from '../minutes/minutes-answer.js';
import { rounded, wholeMilliseconds } from '../rounding.js';
import type { Span, Timeline, TimelineFiles } from './timeline.js';

/** Whether a batch ended, and all of its files were recorded. */
export function isFinished({ seconds, to, from, lease }: Span): boolean {
  return seconds.length > 0 && to > from && lease !== 'expired' && lease !== 'restarted' && !seconds.includes(null);
}

/** Whether most files of a build were never measured before. */
export function isMostlyGuessed({ is_guess }: TimelineFiles): boolean {
  return is_guess.reduce<number>((sum, each) => sum + each, 0) > is_guess.length / 2;
}

/** What the finished batches of a queue tell of their cost, by the recorded times of their files; null: nothing. */
export function observedBatches(timeline: Timeline): BatchSums | null {
  return observedIn(batchesIn(timeline), { setting: settingOf(timeline), learned: null });
}

/** What a batch of a queue cost, by the recorded times of its files; null: no batch tells. */
export function recordedCost(timeline: Timeline): LearnedCost | null {
  const learned = observedBatches(timeline);
  const prior = { setting: settingOf(timeline), meanWeight: meanWeightOf(batchesIn(timeline)), isGuessed: false };
  return learned && toLearnedCost(expectedCost({ ...prior, learned }));
}

/** Rounded as the costs that batches keep are. */
export function toLearnedCost({ pullCost, hidden, slowdown }: BatchCost): LearnedCost {
  return {
    pull_cost: wholeMilliseconds(toSeconds(pullCost)),
    hidden: wholeMilliseconds(toSeconds(hidden)),
    slowdown: rounded(slowdown, 1000),
  };
}

function batchesIn({ kind, nodes }: Timeline): RecordedBatch[] {
  if (kind !== 'queue') return [];
  return nodes.flatMap(({ spans }) =>
    spans.filter(isFinished).map(({ seconds, from, to }) => ({
      files: seconds.length,
      weight: toWeight(seconds.reduce<number>((sum, each) => sum + each!, 0)),
      elapsed: toWeight(to - from),
    })),
  );
}

/** The configured cost of a pull: what the planner expects before it has seen a batch. */
function settingOf({ expectedCost: first }: Timeline): number {
  return toWeight(first?.pull_cost ?? 0);
}
