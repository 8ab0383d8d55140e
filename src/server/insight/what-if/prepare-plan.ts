import { wholeMilliseconds } from '../../../base/rounding.js';
import type { PlanAnswer, Variant } from '../../../protocol/answers/what-if.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { settingsOf } from '../../engine/access.js';
import { newestBuild } from '../../engine/builds.js';
import { cuttable } from '../../engine/pieces/cuttable.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Store } from '../../engine/ports/store.js';
import { Refusal } from '../../engine/refusal.js';
import { TEST_CASES_PER_REQUEST } from '../../engine/suites/plan-suite.js';
import { type Suite, suiteOf } from '../../engine/suites/suite.js';
import { FILES_TO_CUT } from '../../planning/cutting/cut.js';
import { type Estimates, estimate, type Mode, pathOf, unknownFiles } from '../../planning/estimating/estimate.js';
import { toSeconds } from '../../planning/weight.js';
import { newestSubject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import type { Timeline } from '../timeline/timeline.js';
import { assume } from './assumptions.js';
import { deviationsOf } from './deviations.js';
import { type Observed, observe, showsPullCost } from './observed.js';
import { decidingNodes, knownPieces, usualNodes } from './prepare-what-if.js';
import { mostUsefulNodes, nodesWithin, type Scenario, usefulNodesOf, variantsWith } from './scenario.js';
import { speedsIn } from './speeds.js';
import { hadPieces } from './what-if.js';

/** The build to plan. Durations are seconds. */
export interface PlanSubject {
  project: number;
  branch: string;
  mode: Mode;
  /** Null: some that show where more nodes are of no use, or that could end within the time. */
  nodes: readonly number[] | null;
  within: number | null;
  /** Null: as in the newest build. */
  startSpread: number | null;
  pullCost: number | null;
  /** Null: as the project has it set. */
  setup: number | null;
}

/** A suite that is ready to be played. */
export interface PreparedPlan {
  scenario: Scenario;
  /** See PreparedWhatIf. */
  nodes: number[];
  deciding: number[];
  within: number | null;
  mostUseful: number;
  /** The parts of the answer about the suite. */
  suite: Pick<PlanAnswer, 'assumptions' | 'files' | 'unknown_files' | 'total' | 'longest'>;
}

/**
 * Estimates a suite, and reads how the nodes of the newest build behaved. Throws a Refusal when there is no list of files.
 * @param suite null: the files of the newest build
 * @param expectedPullCost as a weight, for a project without a queue
 */
export async function preparePlan(store: Store, asked: PlanSubject, suite: Suite | null, expectedPullCost: number): Promise<PreparedPlan> {
  const { project, branch, mode, within } = asked;
  const newest = await usualBuild(store, project, branch);
  const timeline = newest && (await readTimeline(store, await newestSubject(store, newest), newest.updated_at));
  const paths = suite ?? suiteOf([...new Set((timeline?.paths ?? []).map(fileOfPiece))]);
  if (paths.length === 0) throw new Refusal('parameter is required, because the project has no build', 'parameter', 'test_files');
  const measured = await store.timings.estimates(project, branch, paths, TEST_CASES_PER_REQUEST);
  const estimates = estimate(paths, measured, mode);
  const seconds = estimates.weights.map(toSeconds);
  const unmeasured = unknownFiles(estimates.seconds);
  const observed = timeline && observe(timeline);
  const seen = seenIn(timeline, observed, mode, expectedPullCost);
  const pullCost = asked.pullCost ?? seen.pullCost;
  const areInPieces = mode === 'queue' && timeline !== null && hadPieces(timeline);
  const long = areInPieces ? longestOf(estimates) : [];
  const known = await knownPieces(store, project, long);
  const settings = await settingsOf(store.access, project);
  const scenario: Scenario = {
    mode,
    suite: { weights: estimates.weights, seconds },
    cuttable: long.flatMap((path, file) => cuttable(known.get(path) ?? null, file) ?? []),
    isGuessed: unmeasured > paths.length / 2,
    ...seen,
    startSpread: asked.startSpread,
    pullCost,
    settings: { ...settings, setup: asked.setup ?? settings.setup },
    expected: { hidden: seen.hidden, pullCost },
  };
  const mostUseful = mostUsefulNodes(scenario);
  const total = seconds.reduce((sum, each) => sum + each, 0);
  const work = scenario.hidden * paths.length + total / scenario.rate;
  const assumptions = assume(scenario, {
    estimates: 'now',
    wereGuesses: false,
    areInPieces: scenario.cuttable.length > 0,
    fixedPieces: 0,
    cuts: [],
    unrecorded: null,
    nodeIndexes: observed?.lanes.map(({ node_index }) => node_index) ?? [],
    isPullCostObserved: asked.pullCost === null && timeline?.kind === 'queue',
  });
  const longest = { path: pathOf(estimates, 0), seconds: wholeMilliseconds(seconds[0]!) };
  const usual = usualNodes(newest?.node_total ?? 1, mostUseful);
  return {
    ...{ scenario, within, mostUseful },
    deciding: decidingNodes(usual.at(-1)!),
    nodes: [...(asked.nodes ?? (within === null ? usual : nodesFor(work, within)))],
    suite: { assumptions, files: paths.length, unknown_files: unmeasured, total: wholeMilliseconds(total), longest },
  };
}

/** @param variants ascending, with the numbers of nodes to answer and the deciding ones */
export function planAnswer(
  { scenario, suite, nodes, deciding, mostUseful, within }: PreparedPlan,
  variants: readonly Variant[],
): PlanAnswer {
  const { assumptions, files, unknown_files, total, longest } = suite;
  const asked = variantsWith(variants, nodes);
  return {
    ...{ assumptions, files, unknown_files, total },
    variants: asked,
    useful_nodes: usefulNodesOf(variantsWith(variants, deciding), mostUseful, scenario.settings.setup),
    longest,
    nodes_within: within === null ? null : nodesWithin(asked, within),
  };
}

/** The longest files, as many as a queue cuts. */
function longestOf(estimates: Estimates<Suite>): string[] {
  return Array.from({ length: Math.min(FILES_TO_CUT, estimates.weights.length) }, (_, file) => pathOf(estimates, file));
}

/** The newest build of the branch, else of the default branch, else of the project. */
async function usualBuild({ builds, access }: Store, project: number, branch: string): Promise<Build | null> {
  const own = await newestBuild(builds, project, { branch });
  if (own) return own;
  const defaultBranch = (await access.project(project))?.default_branch ?? null;
  return (defaultBranch !== null && (await newestBuild(builds, project, { branch: defaultBranch }))) || newestBuild(builds, project, {});
}

type Seen = Pick<Scenario, 'starts' | 'speeds' | 'speedSpread' | 'rate' | 'hidden' | 'pullCost' | 'deviations'>;

/** Observes in a build how its nodes started and ran, and how its times deviated from their estimates. */
function seenIn(timeline: Timeline | null, observed: Observed | null, mode: Mode, expectedPullCost: number): Seen {
  const pullCost = mode === 'queue' ? toSeconds(expectedPullCost) : 0;
  const none = new Float64Array();
  if (!timeline || !observed || observed.starts.length === 0)
    return { starts: none, speeds: none, speedSpread: 0, rate: 1, hidden: 0, pullCost, deviations: none };
  const { starts, rate, hidden } = observed;
  const { speeds, spread: speedSpread } = speedsIn(timeline);
  const deviations = deviationsOf(observed, speeds, timeline);
  return { starts, speeds, speedSpread, rate, hidden, pullCost: showsPullCost(timeline, mode) ? observed.pullCost : pullCost, deviations };
}

/** The numbers of nodes from the least that could run the files within a time. */
function nodesFor(total: number, within: number): number[] {
  const { playedVariants, playedNodes } = limits;
  const least = Math.min(playedNodes, Math.max(1, Math.ceil(total / within)));
  return Array.from({ length: Math.min(playedVariants, playedNodes - least + 1) }, (_, i) => least + i);
}
