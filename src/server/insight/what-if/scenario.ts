import { rounded, wholeMilliseconds } from '../../../base/rounding.js';
import type { Variant } from '../../../protocol/answers/what-if.js';
import { limits } from '../../../protocol/limits.js';
import { costOf, type PriceSettings } from '../../../protocol/price.js';
import { withHidden } from '../../planning/batching/batch-cost.js';
import { type CuttableFile, cutFiles, longFiles } from '../../planning/cutting/cut.js';
import type { Mode } from '../../planning/estimating/estimate.js';
import { mean, median } from '../../planning/estimating/median.js';
import { usefulNodes } from '../../planning/forecasting/forecast.js';
import { toWeight, WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import { drawSuites } from './deviations.js';
import { type FileCut, withFilesCut } from './files-cut.js';
import { type Played, type PlayedNodes, type PlayedSuite, playQueue, playSplit } from './play.js';
import { unknownSpeed } from './speeds.js';

/** A suite, and what is known of the nodes that run it. It can be played with any number of nodes. Durations are seconds. */
export interface Scenario {
  mode: Mode;
  suite: PlayedSuite;
  /** The files of it that may run in pieces; none: all run whole. */
  cuttable: readonly CuttableFile[];
  /** Factors by which durations deviate from the seconds of the suite (see `deviationsOf`); empty: not at all. */
  deviations: Float64Array;
  /** Most estimates are guesses. */
  isGuessed: boolean;
  /**
   * When the nodes of a real build started, in seconds since its start; empty: no build is known. The first node of a split begins its
   * files some time after the split was made.
   */
  starts: Float64Array;
  /** The nodes start evenly over this time instead; null: they start like those of the real build. */
  startSpread: number | null;
  /** The speeds of the first nodes, relative to the usual speed, and the spread of those of further ones (see `Speeds`). */
  speeds: Float64Array;
  speedSpread: number;
  /** Seconds of test files that a node of usual speed runs in a second: more than 1 when it runs files side by side. */
  rate: number;
  /** Time that a file takes besides its recorded time. */
  hidden: number;
  /** Time that a node loses with each batch. */
  pullCost: number;
  /** What a job costs. Its `setup` is null when it is not known (see ASSUMED_SETUP). */
  settings: PriceSettings;
  /** The two values that the planner assumes at first. */
  expected: { hidden: number; pullCost: number };
}

/**
 * Plays a scenario with each number of nodes; with deviations, a variant has the means of several plays. Its floor is an even share of the
 * work, or the longest file if that is more: no plan ends sooner on nodes of usual speed. On faster ones, it is at most the wall time.
 */
export function playVariants(scenario: Scenario, counts: readonly number[]): Variant[] {
  const { deviations, rate, settings } = scenario;
  const draw = (suite: PlayedSuite) => {
    const draws = drawSuites(suite, deviations).map(drawn => withCost(scenario, drawn));
    return { ...boundsOf(withCost(scenario, suite)), draws, bounds: draws.map(boundsOf) };
  };
  const whole = draw(scenario.suite);
  return counts.map(nodes => {
    const suite = inPieces(scenario, nodes);
    const { total, longest, draws, bounds } = suite === scenario.suite ? whole : draw(suite);
    const played = draws.map(drawn => play(scenario, nodes, drawn));
    const wall = mean(played.map(each => each.wall));
    const floor = Math.min(wall, mean(bounds.map(each => Math.max(each.total / nodes, each.longest) / rate)));
    return {
      nodes,
      wall: wholeMilliseconds(wall),
      job_seconds: wholeMilliseconds(mean(played.map(({ jobs }) => sumOf(jobs))) + nodes * (settings.setup ?? 0)),
      price: settings.price && {
        ...settings.price,
        amount: rounded(mean(played.map(({ jobs }) => costOf(settings, [...jobs])!.amount)), 1e6),
      },
      floor: wholeMilliseconds(floor),
      ratio: floor === 0 ? 1 : Number((wall / floor).toFixed(4)),
      bound_by_file: longest > total / nodes,
      measured: null,
    };
  });
}

function boundsOf({ seconds }: PlayedSuite): { total: number; longest: number } {
  return { total: sumOf(seconds), longest: seconds.reduce((most, each) => Math.max(most, each), 0) };
}

const sumOf = (values: Float64Array) => values.reduce((sum, each) => sum + each, 0);

/** @param suite that of the scenario, or another one, with the hidden time of its files (see `withCost`) */
export function play(scenario: Scenario, count: number, suite: PlayedSuite): Played {
  const { mode, isGuessed, expected } = scenario;
  const nodes = nodesOf(scenario, count);
  if (mode === 'split') return playSplit(suite, nodes);
  return playQueue(suite, nodes, { nodeTotal: count, pullCost: toWeight(expected.pullCost), isGuessed });
}

/** The files that a queue for so many nodes would have in pieces. */
export function cutsFor({ suite, cuttable, rate, expected }: Scenario, nodes: number): FileCut[] {
  const long = longFiles(suite.weights, nodes).length;
  const { hidden, pullCost } = expected;
  const cost = { hidden: hidden * rate * WEIGHTS_PER_SECOND, pullCost: toWeight(pullCost * rate), slowdown: 1 };
  const cutting = cutFiles(
    suite.weights,
    nodes,
    cuttable.filter(({ file }) => file < long),
    cost,
  );
  return (cutting?.cuts ?? []).map(({ file, pieces }) => ({
    file,
    parts: Float64Array.from(pieces, ({ weight }) => weight / suite.weights[file]!),
  }));
}

function inPieces(scenario: Scenario, nodes: number): PlayedSuite {
  const cuts = cutsFor(scenario, nodes);
  return cuts.length === 0 ? scenario.suite : withFilesCut(scenario.suite, cuts);
}

/** Returns the suite with the hidden time of its files. */
export function withCost({ rate, hidden, expected }: Scenario, { weights, seconds }: PlayedSuite): PlayedSuite {
  return {
    weights: withHidden(weights, { hidden: expected.hidden * rate * WEIGHTS_PER_SECOND, slowdown: 1 }),
    seconds: seconds.map(each => each + hidden * rate),
  };
}

/** A queue hands out batches as nodes come, so it fills them less well than a split: with so many times the nodes it ends no sooner. */
const QUEUE_SLACK = 1.25;

/** The number of nodes at which all others finish with the longest file, if they start together; of a queue, at most. */
export function mostUsefulNodes(scenario: Scenario): number {
  const { mode, rate, pullCost } = scenario;
  const { seconds } = withCost(scenario, inPieces(scenario, limits.playedNodes));
  // With so many nodes, most batches of a queue are one file.
  const pull = mode === 'queue' ? pullCost * rate : 0;
  const most = usefulNodes(
    seconds
      .map(each => toWeight(each + pull))
      .sort()
      .reverse(),
  );
  return mode === 'queue' ? Math.max(1, Math.min(seconds.length, Math.ceil(QUEUE_SLACK * most))) : most;
}

/** Over how many seconds the nodes start. */
export function startSpreadOf({ startSpread, starts }: Scenario): number {
  return startSpread ?? starts.reduce((latest, start) => Math.max(latest, start), 0) - firstStart(starts);
}

function firstStart(starts: Float64Array): number {
  return starts.length === 0 ? 0 : starts.reduce((first, start) => Math.min(first, start));
}

function nodesOf({ starts, startSpread, speeds, speedSpread, rate, pullCost }: Scenario, count: number): PlayedNodes {
  // The speed 1 is that of the faster half; a further node is as likely in the slower one.
  const middle = median([...speeds]) || 1;
  return {
    starts:
      startSpread === null && starts.length > 0 ? resampleStarts(starts, count) : evenStarts(firstStart(starts), startSpread ?? 0, count),
    speeds: Float64Array.from(
      { length: count },
      (_, node) => rate * (speeds[node] ?? middle * unknownSpeed(speedSpread, node - speeds.length)),
    ),
    pullCost,
  };
}

/**
 * Returns when the nodes of a build start if it has another number of nodes, in seconds. The first starts when the first one did.
 *
 * The observed starts are taken for a sample: start i of N is the quantile i / (N + 1) of how nodes start, and the new starts are the
 * quantiles k / (n + 1). Between two observed starts they lie on a straight line, and beyond the outermost ones they continue with the
 * step there, or with the mean step if that is smaller: one straggler does not make others. The observed number gives the observed starts.
 *
 * @param observed in any order, at least one
 */
export function resampleStarts(observed: Float64Array, nodes: number): Float64Array {
  if (nodes === observed.length) return observed;
  const last = observed.length - 1;
  if (last === 0) return new Float64Array(nodes).fill(observed[0]!);
  const sorted = observed.toSorted();
  const step = (from: number) => sorted[from + 1]! - sorted[from]!;
  const meanStep = (sorted[last]! - sorted[0]!) / last;
  const quantile = (part: number) => {
    const position = part * (sorted.length + 1) - 1;
    if (position <= 0) return sorted[0]! + position * Math.min(step(0), meanStep);
    if (position >= last) return sorted[last]! + (position - last) * Math.min(step(last - 1), meanStep);
    const below = Math.floor(position);
    return sorted[below]! + (position - below) * step(below);
  };
  const starts = Float64Array.from({ length: nodes }, (_, k) => quantile((k + 1) / (nodes + 1)));
  const shift = sorted[0]! - starts[0]!;
  return starts.map(start => start + shift);
}

/** Starts from a time on that are spread evenly, in seconds. */
export function evenStarts(first: number, spread: number, nodes: number): Float64Array {
  return Float64Array.from({ length: nodes }, (_, node) => first + (nodes === 1 ? 0 : (node * spread) / (nodes - 1)));
}

/** The set-up of a job that is counted while nobody stated it, in seconds: a checkout and the installation of packages from a cache. */
export const ASSUMED_SETUP = 30;
/** 1 % more nodes are worth their jobs when they shorten the wall time, with the set-up of a job, by this many per cent. */
const LEAST_GAIN = 0.5;

/**
 * Returns the number of nodes beyond which more bring little: no larger number that was played is worth its jobs. Where the work divides
 * evenly, the jobs of that number take as long for their tests as for their set-up.
 *
 * @param variants by number of nodes, ascending
 * @param most no more nodes can be useful (see `mostUsefulNodes`)
 * @param setup that of a job; null: it is not known
 */
export function usefulNodesOf(variants: readonly Pick<Variant, 'nodes' | 'wall'>[], most: number, setup: number | null): number {
  const timeOf = ({ wall }: Pick<Variant, 'wall'>) => wall + (setup ?? ASSUMED_SETUP);
  // Nothing was played with more nodes than the last number, so nobody can say what more would bring.
  const enough = variants.slice(0, -1).find((fewer, i) => {
    const isWorth = (more: Pick<Variant, 'nodes' | 'wall'>) => timeOf(more) < timeOf(fewer) * (fewer.nodes / more.nodes) ** LEAST_GAIN;
    return !variants.slice(i + 1).some(isWorth);
  });
  return Math.min(most, enough?.nodes ?? most);
}

/** The variants with these numbers of nodes. */
export function variantsWith(variants: readonly Variant[], counts: readonly number[]): Variant[] {
  return variants.filter(({ nodes }) => counts.includes(nodes));
}

/** The least number of nodes that ends within these seconds; null: none does. */
export function nodesWithin(variants: readonly Variant[], seconds: number): number | null {
  return variants.find(({ wall }) => wall <= seconds)?.nodes ?? null;
}
