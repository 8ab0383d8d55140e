import { totalWeight, WEIGHTS_PER_SECOND } from '../weight.js';

/** The files of a queue that are handed out before all others, as indices. */
export interface FirstFiles {
  /** Those that failed in the newest run of the branch. */
  failed: readonly number[];
  /** Those that were never measured, without those that failed. */
  unmeasured: readonly number[];
}

/** All files that go first, in their order. */
export function allFirst({ failed, unmeasured }: FirstFiles): number[] {
  return [...failed, ...unmeasured];
}

/** What is known of a queue that is planned. Durations are weights (see weight.ts). */
export interface FirstOptions {
  /** By file, with the time that reports do not tell. */
  durations: Float64Array;
  nodeTotal: number;
  /** The time that a node loses between two batches. */
  pullCost: number;
}

/** The most files that go first. */
const MOST_FILES = 21;
/** The part of the work that they may take, with the pulls that their batches cost. */
const PART_OF_WORK = 0.02;
/** Where each node has less work than this, all results are known soon. */
const LEAST_WORK = 60 * WEIGHTS_PER_SECOND;
/** A batch of such files is worth about this many pulls. */
const PULLS_PER_BATCH = 2;

/** Tells whether a queue may have files that go first: its nodes should work for more than a minute. */
export function mayHaveFirst({ durations, nodeTotal }: Pick<FirstOptions, 'durations' | 'nodeTotal'>): boolean {
  return totalWeight(durations) >= nodeTotal * LEAST_WORK;
}

/** The weight of a batch of files that go first: small, so that their results are known early. */
export function firstBatchWeight({ pullCost }: Pick<FirstOptions, 'pullCost'>): number {
  return PULLS_PER_BATCH * pullCost;
}

/** The facts that decide whether files go first at a pull. Times are weights. */
interface FirstSituation {
  pullCost: number;
  /** When all nodes would finish together. */
  finishIn: number;
  /** What a file takes besides its weight, and as a multiple of it. */
  hidden: number;
  slowdown: number;
}

/**
 * Tells whether a batch of files that go first would make the build longer: the slowest of the other files would end after all nodes.
 *
 * @param slowest its weight; null: there are no others
 */
export function wouldDelay(slowest: number | null, { pullCost, finishIn, hidden, slowdown }: FirstSituation): boolean {
  return slowest !== null && pullCost + firstBatchWeight({ pullCost }) + hidden + slowdown * slowest > finishIn;
}

/**
 * Chooses the files that go first: the shortest of those that failed, then of those that were never measured, as many as the price allows. Of the
 * shortest that failed only the pull is the price: a long file comes early in any case.
 *
 * @param candidates all that failed, or were never measured, in any order
 */
export function chooseFirst(candidates: FirstFiles, { durations, pullCost }: FirstOptions): FirstFiles {
  const most = PART_OF_WORK * totalWeight(durations);
  const failed: number[] = [];
  const unmeasured: number[] = [];
  let price = 0;
  let room = 0;
  for (const [chosen, all] of [
    [failed, candidates.failed],
    [unmeasured, candidates.unmeasured],
  ] as const) {
    // The index order is slowest first.
    for (const file of all.toSorted((a, b) => b - a)) {
      const duration = durations[file]!;
      const beginsBatch = duration > room;
      price += (beginsBatch ? pullCost : 0) + (failed.length === 0 && chosen === failed ? 0 : duration);
      if (price > most || failed.length + unmeasured.length === MOST_FILES) return { failed, unmeasured };
      room = (beginsBatch ? firstBatchWeight({ pullCost }) : room) - duration;
      chosen.push(file);
    }
  }
  return { failed, unmeasured };
}
