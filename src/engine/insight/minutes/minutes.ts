import type { Timeline } from '../timeline/timeline.js';
import { executionsOf, type NodeWork } from './executions.js';
import { idleCauses } from './idle-causes.js';
import { type NodeMinutes, nodeMinutes } from './node-minutes.js';
import { slownessOf } from './slowness.js';

/** Where the wall time of a CI run went. `parts` add up to `wall` exactly, in whole milliseconds. */
export interface Minutes {
  /** From the start of the first node to the end of the last one. */
  wall: number;
  /** No plan with whole files could have ended sooner on these nodes at their usual speed: even share + longest file. */
  floor: number;
  /** In the order of PART_NAMES. */
  parts: MinutePart[];
  /** By node_index. */
  nodes: NodeMinutes[];
  /** The execution that took longest at usual speed; null: nothing ran. */
  longest: LongExecution | null;
}

export interface LongExecution {
  file: number;
  node_index: number;
  /** How long it took there. */
  seconds: number;
}

export const PART_NAMES = ['even_share', 'longest_file', 'slow_nodes', 'estimates', 'late_starts', 'gaps', 'repeats', 'idle'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** In milliseconds of wall time. */
export interface MinutePart {
  name: PartName;
  milliseconds: number;
  /** Its cause by node, in milliseconds of node time, where it has one. */
  nodes: { node_index: number; milliseconds: number }[];
}

/**
 * The definitions of the parts. The wall time of a build times its nodes is the sum of what each node did in that time: it had not
 * begun, ran files for the first time, ran files again, did neither, or had ended. `even_share` and `longest_file` are the floor; the
 * others are what was lost.
 */
export const PART_DEFINITIONS: Readonly<Record<PartName, string>> = {
  even_share: 'the time of all files at the usual speed of the nodes, each file once, divided by the number of nodes',
  longest_file: 'how much longer than an even share the longest file takes; what other nodes lose in that time costs nothing',
  slow_nodes: 'how much longer slow nodes took for their files than usual nodes, and the wait of the others for them',
  estimates: 'the part of the wait for the last node that vanishes if the last batch of each node takes its estimated time',
  late_starts: 'the time before the first request of each node, and the wait for late nodes at the end',
  gaps: 'the time of nodes between files: the start and end of the test runner, the wait for the next batch',
  repeats: 'files that ran again, the files and the remaining time of lost nodes, and the wait for them',
  idle: 'the wait for the last node that no other part explains',
};

/** In this order the longest file makes other losses cost nothing. */
const COVERED = ['idle', 'late_starts', 'gaps', 'repeats', 'slow_nodes'] as const;
type Loss = Exclude<PartName, 'even_share' | 'longest_file'>;

/** Where the wall time went, as PART_DEFINITIONS defines it. Pure. */
export function minutesOf(timeline: Timeline): Minutes {
  const { start, end, files, nodes: lanes } = timeline;
  const worked = executionsOf(timeline);
  const slowness = slownessOf(worked, files);
  const factors = slowness.significant;
  const nodes = worked.map((node, i) => nodeMinutes(node, { start, end }, slowness.factors[i]!));
  const losses = new Losses();
  let usual = 0;
  for (const [i, { work, late, gaps, repeats, idle }] of nodes.entries()) {
    usual += work / factors[i]!;
    losses.add('slow_nodes', i, work * (1 - 1 / factors[i]!));
    losses.add('late_starts', i, late);
    losses.add('gaps', i, gaps);
    losses.add('repeats', i, repeats);
    losses.add('idle', i, idle);
  }
  const wall = end - start;
  const count = lanes.length;
  const longest = longestExecution(worked, factors);
  const beyond = Math.max(0, (longest?.milliseconds ?? 0) - usual / count);
  let covered = beyond * count;
  for (const name of COVERED) covered -= losses.take(name, covered);
  for (const { name, milliseconds, nodes: causes } of idleCauses(worked, nodes, slowness, files)) {
    const taken = losses.take('idle', milliseconds);
    for (const [node, part] of causes) losses.add(name, node, (part * taken) / milliseconds);
  }
  const milliseconds = PART_NAMES.map(name => {
    if (name === 'even_share') return usual / count;
    return name === 'longest_file' ? beyond : losses.sum(name) / count;
  });
  const whole = largestRemainder(milliseconds, wall);
  const parts = PART_NAMES.map((name, i) => {
    const causes = name === 'even_share' || name === 'longest_file' ? [] : losses.nodes(name);
    return { name, milliseconds: whole[i]!, nodes: causes.map(([node_index, each]) => ({ node_index, milliseconds: Math.round(each) })) };
  });
  return { wall, floor: whole[0]! + whole[1]!, parts, nodes, longest: longest?.execution ?? null };
}

/** The execution that took longest at usual speed, and how long that is. It counts as at most the span that it was in. */
function longestExecution(
  nodes: readonly NodeWork[],
  factors: readonly number[],
): { execution: LongExecution; milliseconds: number } | null {
  let longest: { execution: LongExecution; milliseconds: number } | null = null;
  for (const [node_index, { works }] of nodes.entries()) {
    for (const { span, executions } of works) {
      for (const { file, isRepeat, seconds, milliseconds } of executions) {
        if (isRepeat) continue;
        const own = Number.isNaN(seconds) ? milliseconds : 1000 * seconds;
        const usual = Math.min(own, span.to - span.from) / factors[node_index]!;
        if (longest && usual <= longest.milliseconds) continue;
        longest = { execution: { file, node_index, seconds: own / 1000 }, milliseconds: usual };
      }
    }
  }
  return longest;
}

/** Node time that was lost, by part and node, in milliseconds. */
class Losses {
  readonly #byName = new Map<Loss, Map<number, number>>();

  add(name: Loss, node: number, milliseconds: number): void {
    let nodes = this.#byName.get(name);
    if (!nodes) this.#byName.set(name, (nodes = new Map()));
    if (milliseconds > 0) nodes.set(node, (nodes.get(node) ?? 0) + milliseconds);
  }

  sum(name: Loss): number {
    return [...(this.#byName.get(name)?.values() ?? [])].reduce((sum, each) => sum + each, 0);
  }

  /** Takes up to an amount from a part, from each node in proportion. Returns how much it took. */
  take(name: Loss, amount: number): number {
    const sum = this.sum(name);
    const taken = Math.max(0, Math.min(sum, amount));
    if (taken === 0) return 0;
    const nodes = this.#byName.get(name)!;
    for (const [node, each] of nodes) nodes.set(node, each * (1 - taken / sum));
    return taken;
  }

  /** The nodes that lost at least half a millisecond, the one that lost most first. */
  nodes(name: Loss): [node: number, milliseconds: number][] {
    const nodes = [...(this.#byName.get(name) ?? [])].filter(([, each]) => each >= 0.5);
    return nodes.sort(([a, x], [b, y]) => y - x || a - b);
  }
}

/**
 * Rounds parts to whole numbers of a given sum, which is that of the parts up to errors of floating point. Parts that lose most by
 * rounding down are rounded up (the largest remainder method), so each is less than 1 from its exact value.
 */
export function largestRemainder(parts: readonly number[], sum: number): number[] {
  const whole = parts.map(part => Math.max(0, Math.floor(part)));
  const order = parts.map((part, i) => ({ i, remainder: part - whole[i]! })).sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  let left = sum - whole.reduce((total, each) => total + each, 0);
  for (let at = 0; left > 0; at = (at + 1) % order.length, left--) whole[order[at]!.i]! += 1;
  for (let at = order.length - 1; left < 0; at = (at + order.length - 1) % order.length) {
    if (whole[order[at]!.i]! === 0) continue;
    whole[order[at]!.i]! -= 1;
    left++;
  }
  return whole;
}
