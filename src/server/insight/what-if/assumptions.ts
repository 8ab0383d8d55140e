import { wholeMilliseconds } from '../../../base/rounding.js';
import type { Assumptions } from '../../../protocol/answers/what-if.js';
import { ASSUMED_SETUP, type Scenario, startSpreadOf } from './scenario.js';

/** The estimates to plan with. */
export type EstimatesOf = Assumptions['estimates'];

/** A file that is cut by hand. */
export type Cut = Assumptions['cut'][number];

/** Facts behind a scenario that the scenario does not show. */
export interface Background {
  estimates: EstimatesOf;
  /** The build had mostly guesses. */
  wereGuesses: boolean;
  /** Long files run in pieces. */
  areInPieces: boolean;
  /** Number of pieces of that build that are played as they were. */
  fixedPieces: number;
  cuts: readonly Cut[];
  /** Files without a recorded time; null: nothing was to be recorded, the suite is planned ahead. */
  unrecorded: number | null;
  /** The node_index of each node with a speed. */
  nodeIndexes: readonly number[];
  /** The pull cost is the observed one, and not one to try. */
  isPullCostObserved: boolean;
}

/** A node is listed when its speed differs from the usual one by this part. */
const SHOWN_DIFFERENCE = 0.03;

export function assume(
  scenario: Scenario,
  { estimates, wereGuesses, areInPieces, fixedPieces, cuts, unrecorded, nodeIndexes, isPullCostObserved }: Background,
): Assumptions {
  const { mode, pullCost, rate, hidden } = scenario;
  const { setup } = scenario.settings;
  const startSpread = startSpreadOf(scenario);
  const sentences = [
    mode === 'queue'
      ? 'The planner of the server hands out batches from a queue.'
      : 'The planner of the server makes a split before the nodes start.',
    unrecorded === null ? plannedText(scenario) : `Each file takes its recorded time${unrecordedText(unrecorded)}.`,
    `The files are planned with ${estimatesText(estimates)}${wereGuesses && estimates === 'now' ? ', because those of that build were mostly guesses' : ''}.`,
    startText(scenario, startSpread),
    `A node loses ${seconds(pullCost)} ${mode === 'queue' ? 'with each batch' : 'in addition to its files'}${isPullCostObserved ? ', the median of that build' : ''}.`,
    ...setupTexts(setup),
    ...(rate >= 1.05 ? [`A node runs files side by side: ${rate.toFixed(1)} seconds of files per second.`] : []),
    ...(rate < 0.98 ? [`A node needs ${(1 / rate).toFixed(2)} seconds for each recorded second.`] : []),
    ...(hidden >= 0.05 ? [`Each file takes ${seconds(hidden)} that is in no report.`] : []),
    ...speedTexts(scenario, nodeIndexes),
    ...(areInPieces ? ['Long files run in pieces, cut anew for each number of nodes.'] : []),
    ...(fixedPieces > 0 ? ['Pieces of files whose test cases are not known now, or that are not cut again, are those of that build.'] : []),
    ...cuts.map(cutText),
  ];
  return {
    mode,
    start_spread: wholeMilliseconds(startSpread),
    pull_cost: wholeMilliseconds(pullCost),
    setup: wholeMilliseconds(setup ?? 0),
    estimates,
    in_pieces: areInPieces,
    cut: [...cuts],
    sentences,
  };
}

function plannedText({ deviations }: Scenario): string {
  if (deviations.length === 0) return 'Each file takes its estimate.';
  return 'Each file takes its estimate with a deviation like those of the newest build. The times are means over several draws of the deviations.';
}

function estimatesText(estimates: EstimatesOf): string {
  if (estimates === 'now') return 'the estimates of today';
  return estimates === 'exact' ? 'the recorded times, as if every estimate were right' : 'the estimates of that build';
}

function unrecordedText(files: number): string {
  if (files === 0) return '';
  return files === 1 ? '. One file was not recorded and takes its estimate' : `. ${files} files were not recorded and take their estimates`;
}

function startText({ startSpread, starts }: Scenario, spread: number): string {
  if (spread === 0) return 'The nodes start together.';
  if (startSpread !== null) return `The nodes start evenly over ${seconds(spread)}.`;
  return `The ${starts.length} nodes of that build started within ${seconds(spread)}. The starts of another number of nodes are interpolated from these.`;
}

function setupTexts(setup: number | null): string[] {
  if (setup === null)
    return [
      `More nodes are compared as if a job took ${seconds(ASSUMED_SETUP)} before its node starts: state the real time (setup) in the settings of the project, or in this question.`,
    ];
  return setup > 0 ? [`The job of a node takes ${seconds(setup)} before the node starts: they count in the node-minutes.`] : [];
}

function speedTexts({ speeds }: Scenario, nodeIndexes: readonly number[]): string[] {
  const unusual = [...speeds.entries()].filter(([, speed]) => Math.abs(Math.log(speed)) >= SHOWN_DIFFERENCE);
  if (unusual.length === 0) return ['All nodes have about the same speed.'];
  const list = unusual.slice(0, 10).map(([node, speed]) => `node ${nodeIndexes[node]} ${speed.toFixed(2)}`);
  const more = unusual.length > list.length ? ` and ${unusual.length - list.length} more` : '';
  return [
    `Some nodes have the speeds measured in that build, where 1 is usual: ${list.join(', ')}${more}. Added nodes vary as the others do, without outliers.`,
  ];
}

function cutText({ path, pieces, is_measured }: Cut): string {
  return `${path} is cut into ${is_measured ? `its ${pieces} test cases, with their times` : `${pieces} equal pieces, because the times of its test cases are not known`}.`;
}

function seconds(value: number): string {
  return `${Number(value.toFixed(1))} s`;
}
