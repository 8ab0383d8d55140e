import { usefulNodes } from '../../../planning/forecasting/useful-nodes.js';
import { toWeight } from '../../../planning/weight.js';
import { drawSuites } from './deviations.js';
import { type Played, type PlayedNodes, type PlayedSuite, playQueue, playSplit } from './play.js';
import { unknownSpeed } from './speeds.js';
import { evenStarts, resampleStarts } from './starts.js';

export type Mode = 'queue' | 'split';

/** A suite, and what is known of the nodes that run it. It can be played with any number of nodes. Durations are seconds. */
export interface Scenario {
  mode: Mode;
  suite: PlayedSuite;
  /** How the durations deviate from the seconds of the suite (see `deviationsOf`); empty: not at all. */
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
  /** What a node loses with each batch. */
  pullCost: number;
  /** What the planner expects that to be, before it has learned it, as a weight. */
  expectedPullCost: number;
}

/** The outcome with a number of nodes. Durations are seconds; with deviations, the means of several plays. */
export interface Outcome {
  nodes: number;
  wall: number;
  nodeSeconds: number;
  /** An even share of the files, or the longest file if that is more: no plan ends sooner on nodes of usual speed. */
  floor: number;
  /** The longest file takes more than an even share, so nodes wait for it. */
  isBoundByFile: boolean;
}

/** Plays a scenario with each number of nodes. */
export function playVariants(scenario: Scenario, counts: readonly number[]): Outcome[] {
  const { suite, deviations, rate } = scenario;
  const { total, longest } = boundsOf(suite);
  const draws = drawSuites(suite, deviations).map(drawn => ({ drawn, bounds: boundsOf(drawn) }));
  return counts.map(nodes => {
    const played = draws.map(({ drawn }) => play(scenario, nodes, drawn));
    return {
      nodes,
      wall: mean(played.map(({ wall }) => wall)),
      nodeSeconds: mean(played.map(({ nodeSeconds }) => nodeSeconds)),
      floor: mean(draws.map(({ bounds }) => Math.max(bounds.total / nodes, bounds.longest) / rate)),
      isBoundByFile: longest > total / nodes,
    };
  });
}

function boundsOf({ seconds }: PlayedSuite): { total: number; longest: number } {
  return { total: seconds.reduce((sum, each) => sum + each, 0), longest: seconds.reduce((most, each) => Math.max(most, each), 0) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

/** @param suite played instead of that of the scenario */
export function play(scenario: Scenario, count: number, suite: PlayedSuite = scenario.suite): Played {
  const { mode, isGuessed, expectedPullCost: pullCost } = scenario;
  const nodes = nodesOf(scenario, count);
  return mode === 'queue' ? playQueue(suite, nodes, { nodeTotal: count, pullCost, isGuessed }) : playSplit(suite, nodes);
}

/** The number of nodes at which all others finish with the longest file, if they start together. */
export function mostUsefulNodes({ suite }: Scenario): number {
  return usefulNodes(suite.seconds.map(toWeight).sort().reverse());
}

/** Over how many seconds the nodes start. */
export function startSpreadOf({ startSpread, starts }: Scenario): number {
  return startSpread ?? starts.reduce((latest, start) => Math.max(latest, start), 0) - firstStart(starts);
}

function firstStart(starts: Float64Array): number {
  return starts.length === 0 ? 0 : starts.reduce((first, start) => Math.min(first, start));
}

function nodesOf({ starts, startSpread, speeds, speedSpread, rate, pullCost }: Scenario, count: number): PlayedNodes {
  return {
    starts:
      startSpread === null && starts.length > 0 ? resampleStarts(starts, count) : evenStarts(firstStart(starts), startSpread ?? 0, count),
    speeds: Float64Array.from({ length: count }, (_, node) => rate * (speeds[node] ?? unknownSpeed(speedSpread, node - speeds.length))),
    pullCost,
  };
}
