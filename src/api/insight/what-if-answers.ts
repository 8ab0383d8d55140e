import type { Assumptions } from '../../engine/insight/what-if/assumptions.js';
import type { PreparedPlan } from '../../engine/insight/what-if/prepare-plan.js';
import type { PreparedWhatIf } from '../../engine/insight/what-if/prepare-what-if.js';
import { BASELINE_ASSUMPTIONS } from '../../engine/insight/what-if/savings.js';
import { nodesWithin, type Outcome, usefulNodesOf } from '../../engine/insight/what-if/scenario.js';
import type { LongFile } from '../../engine/insight/what-if/what-if.js';
import type { Assumptions as AssumptionsAnswer, PlanAnswer, Variant, WhatIfAnswer } from '../messages/insight/what-if.js';
import { buildHead } from './build-answers.js';

/** Played builds in the form that the API returns. Durations are seconds, in whole milliseconds. */

const MOST_CUTS = 10;
/** A file is worth cutting when the build ends sooner by this part of its wall time. Less is chance. */
const MIN_SAVING = 0.005;

/** @param outcomes by number of nodes, ascending, today's included @param walls with each of the longest files in pieces */
export function whatIfAnswer(prepared: PreparedWhatIf, outcomes: readonly Outcome[], walls: readonly number[]): WhatIfAnswer {
  const { subject, timeline, whatIf, nodes, measured } = prepared;
  const { assumptions, baselines, mostUseful, longest } = whatIf;
  const today = outcomes.find(outcome => outcome.nodes === subject.build.node_total)!;
  return {
    ...buildHead(subject, timeline),
    assumptions: assumptionsAnswer(assumptions, [`Other methods: ${BASELINE_ASSUMPTIONS.join(' ')}`]),
    variants: outcomes.filter(outcome => nodes.includes(outcome.nodes)).map(outcome => variant(outcome, measured.get(outcome.nodes))),
    useful_nodes: usefulNodesOf(outcomes, mostUseful),
    longest: longestOf(longest),
    baselines: {
      round_robin: baselines.round_robin / 1000,
      by_name: baselines.by_name / 1000,
      one_at_a_time: baselines.one_at_a_time / 1000,
    },
    worth_cutting: longest
      .map(({ path, seconds }, i) => ({ path, seconds: round(seconds), saves: round(today.wall - walls[i]!) }))
      .filter(({ saves }) => saves > MIN_SAVING * today.wall)
      .sort((a, b) => b.saves - a.saves)
      .slice(0, MOST_CUTS),
  };
}

export function planAnswer(prepared: PreparedPlan, outcomes: readonly Outcome[]): PlanAnswer {
  const { assumptions, files, unknownFiles, total, mostUseful, longest, within } = prepared;
  return {
    assumptions: assumptionsAnswer(assumptions),
    files,
    unknown_files: unknownFiles,
    total: round(total),
    variants: outcomes.map(outcome => variant(outcome)),
    useful_nodes: usefulNodesOf(outcomes, mostUseful),
    longest: longest && { path: longest.path, seconds: round(longest.seconds) },
    nodes_within: within === null ? null : nodesWithin(outcomes, within),
  };
}

function variant({ nodes, wall, nodeSeconds, floor, isBoundByFile }: Outcome, measured?: number): Variant {
  return {
    nodes,
    wall: round(wall),
    node_seconds: round(nodeSeconds),
    floor: round(floor),
    ratio: floor === 0 ? 1 : Number((wall / floor).toFixed(4)),
    bound_by_file: isBoundByFile,
    measured: measured ?? null,
  };
}

function assumptionsAnswer(
  { mode, startSpread, pullCost, estimates, cut, sentences }: Assumptions,
  more: string[] = [],
): AssumptionsAnswer {
  return {
    mode,
    start_spread: round(startSpread),
    pull_cost: round(pullCost),
    estimates,
    cut: cut.map(({ path, pieces, isMeasured }) => ({ path, pieces, is_measured: isMeasured })),
    sentences: [...sentences, ...more],
  };
}

function longestOf([first]: readonly LongFile[]): { path: string; seconds: number } | null {
  return first ? { path: first.path, seconds: round(first.seconds) } : null;
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
