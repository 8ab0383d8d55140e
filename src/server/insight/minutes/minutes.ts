import { roundParts, wholeMilliseconds } from '../../../base/rounding.js';
import { type MinutePartAnswer, type MinutesAnswer, PART_DEFINITIONS, PART_NAMES } from '../../../protocol/answers/minutes.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import type { Timeline } from '../timeline/timeline.js';
import { floorOf, type LongExecution } from './floor.js';
import { idleCauses } from './idle-causes.js';
import { type LastSpan, lastSpansOf } from './last-span.js';
import { type NodeMinutes, nodeMinutes } from './node-minutes.js';

/** The wall time of a CI run in parts. `parts` add up to `wall` exactly, in whole milliseconds. */
export interface Minutes extends Pick<MinutesAnswer, 'wall' | 'floor' | 'parts'> {
  /** By node_index. */
  nodes: NodeMinutes[];
  /** By node_index. */
  lastSpans: LastSpan[];
  /** The execution that took longest at usual speed; null: nothing ran. */
  longest: LongExecution | null;
}

/** In this order the longest file makes other losses cost nothing. */
const COVERED = ['idle', 'late_starts', 'gaps', 'unreported', 'repeats', 'slow_nodes'] as const;

export const [, , ...LOSSES] = PART_NAMES;
export type Loss = (typeof LOSSES)[number];

/** Divides the wall time into the parts that PART_DEFINITIONS defines. Pure. */
export function minutesOf(timeline: Timeline): Minutes {
  const { wall, cost } = timeline;
  const hidden = cost?.hidden ?? 0;
  const { worked, slowness, evenShare, beyond, floor, longest } = floorOf(timeline);
  const counted = countedNodes(timeline);
  const isAbsenceLate = counted.length === timeline.nodes.length;
  const nodes = worked.map((node, i) => nodeMinutes(node, { wall, hidden, isAbsenceLate }, slowness.factors[i]!));
  const lastSpans = lastSpansOf(worked, nodes, slowness, timeline);
  const count = counted.length;
  /** Node time that was lost, by part and node. */
  const losses: Readonly<Record<Loss, number[]>> = {
    slow_nodes: nodes.map(({ work }, i) => work * (1 - 1 / slowness.significant[i]!)),
    estimates: nodes.map(() => 0),
    late_starts: nodes.map(({ late }) => late),
    unreported: nodes.map(({ unreported }) => unreported),
    gaps: nodes.map(({ gaps }) => gaps),
    repeats: nodes.map(({ repeats }) => repeats),
    idle: nodes.map(({ idle }) => idle),
  };
  let covered = beyond * count;
  for (const name of COVERED) covered -= take(losses[name], covered);
  for (const { name, seconds, nodes: causes } of idleCauses(worked, lastSpans)) {
    const taken = take(losses.idle, seconds);
    for (const [node, part] of causes) losses[name][node]! += (part * taken) / seconds;
  }
  const lost = LOSSES.map(name => losses[name].reduce((sum, each) => sum + each, 0) / count);
  const seconds = [...roundParts([evenShare, beyond], floor), ...roundParts(lost, wall - floor)];
  const parts = PART_NAMES.map((name, i): MinutePartAnswer => {
    const ofNodes = name === 'even_share' || name === 'longest_file' ? [] : causesOf(losses[name]);
    return { name, seconds: seconds[i]!, definition: PART_DEFINITIONS[name], nodes: ofNodes };
  });
  return { wall, floor, parts, nodes, lastSpans, longest };
}

/** Takes up to an amount from a loss, from each node in proportion. Returns how much it took. */
function take(loss: number[], amount: number): number {
  const sum = loss.reduce((total, each) => total + each, 0);
  const taken = Math.max(0, Math.min(sum, amount));
  if (taken > 0) for (const [node, each] of loss.entries()) loss[node] = each * (1 - taken / sum);
  return taken;
}

/** The nodes with at least half a millisecond of a loss, the largest first. */
function causesOf(loss: readonly number[]): MinutePartAnswer['nodes'] {
  const nodes = loss.map((each, node_index) => ({ node_index, seconds: wholeMilliseconds(each) }));
  return nodes.filter(({ seconds }) => seconds > 0).sort((a, b) => b.seconds - a.seconds || a.node_index - b.node_index);
}
