import { durationText } from '../duration.js';
import type { NodeLane, Span, Timeline, TimelineFiles } from '../timeline/timeline.js';
import { leastDelay, MAIN_PART } from './delay.js';
import type { Minutes, PartName } from './minutes.js';

/** Repeats are told when they took a node more than this part of the wall time. */
const REPEATS_PART = 0.02;

/** Who ended last, and what decided it, in one or two sentences. */
export function verdictOf(timeline: Timeline, minutes: Minutes): string {
  const { nodes, isRunning } = timeline;
  const started = nodes.filter(({ start }) => start !== null);
  if (started.length === 0) return isRunning ? 'No node has started yet.' : 'No node started.';
  if (isRunning) return running(timeline, started);
  return [decision(timeline, minutes, started), absence(timeline, minutes)].filter(sentence => sentence !== '').join(' ');
}

function running({ nodes, end }: Timeline, started: readonly NodeLane[]): string {
  const atWork = started.filter(lane => isAtWork(lane, end)).length;
  return `The build is running: ${atWork} of ${nodes.length} nodes are at work, ${started.length - atWork} have ended.`;
}

function isAtWork({ spans, recordedAt }: NodeLane, end: number): boolean {
  const last = spans.at(-1);
  return last !== undefined && last.to === end && last.to > (recordedAt ?? -Infinity);
}

function decision(timeline: Timeline, minutes: Minutes, started: readonly NodeLane[]): string {
  const { files } = timeline;
  const [even, longest] = minutes.parts;
  const together = leastDelay(minutes.wall);
  if (longest!.milliseconds > together) {
    const { file, seconds, node_index } = longestFile(started);
    const share = durationText(even!.milliseconds / 1000);
    return `${files.paths[file]} decides this build: it took ${durationText(seconds)} on node ${node_index}, longer than an even share of ${share}.`;
  }
  const ended = [...started].sort((a, b) => b.end! - a.end! || a.node_index - b.node_index);
  const [last, before] = ended;
  if (!before) return minutes.nodes.length === 1 ? 'One node ran everything.' : `Only node ${last!.node_index} started.`;
  const late = last!.end! - before.end!;
  const spread = last!.end! - ended.at(-1)!.end!;
  if (spread <= together) return `All nodes finished within ${durationText(spread / 1000)} of each other.`;
  const cause = causeOf(minutes, last!, files);
  if (late <= together) {
    const first = ended.at(-1)!;
    return `Nodes finished up to ${durationText(spread / 1000)} apart: node ${first.node_index} first, node ${last!.node_index} last${cause && `: ${cause}`}.`;
  }
  return `Node ${last!.node_index} finished ${durationText(late / 1000)} after node ${before.node_index}${cause && `: ${cause}`}.`;
}

/** Why a node ended late, as a part of a sentence; empty: no cause stands out. */
function causeOf({ parts, nodes, wall }: Minutes, lane: NodeLane, files: TimelineFiles): string {
  const blamed = parts.map(({ name, nodes: causes }) => ({
    name,
    milliseconds: causes.find(({ node_index }) => node_index === lane.node_index)?.milliseconds ?? 0,
  }));
  const main = blamed.reduce((most, part) => (part.name !== 'idle' && part.milliseconds > most.milliseconds ? part : most));
  if (main.milliseconds < leastDelay(wall)) return '';
  const own = nodes[lane.node_index]!;
  const texts: Partial<Record<PartName, () => string>> = {
    estimates: () => wrongEstimate(lane.spans.at(-1)!, files),
    slow_nodes: () => `it took ${factorText(own.slowness ?? 1)} as long as other nodes for its files`,
    late_starts: () => `it started ${durationText(own.late / 1000)} late`,
    gaps: () => `it lost ${durationText(own.gaps / 1000)} between its files`,
    repeats: () => `it ran files that had run before, or that a lost node had`,
  };
  return texts[main.name]?.() ?? '';
}

function wrongEstimate({ files: indices, seconds }: Span, { paths, estimates }: TimelineFiles): string {
  let worst: { file: number; excess: number; seconds: number } | null = null;
  let excess = 0;
  let actual = 0;
  let estimated = 0;
  for (const [i, file] of indices.entries()) {
    const over = seconds[i]! - estimates[file]!;
    if (Number.isNaN(over)) continue;
    excess += over;
    actual += seconds[i]!;
    estimated += estimates[file]!;
    if (over > (worst?.excess ?? 0)) worst = { file, excess: over, seconds: seconds[i]! };
  }
  if (worst && worst.excess >= excess * MAIN_PART) {
    return `${paths[worst.file]} took ${factorText(worst.seconds / estimates[worst.file]!)} its estimate there`;
  }
  return excess > 0 ? `its last files took ${factorText(actual / estimated)} their estimates` : '';
}

/** What nodes that were lost or never started mean, as a sentence; empty: there are none. */
function absence({ nodes, kind }: Timeline, { nodes: minutes, wall }: Minutes): string {
  const never = nodes.filter(({ start }) => start === null).map(({ node_index }) => node_index);
  const lost = nodes.filter(({ recordedAt, spans }) => spans.length > 0 && spans.at(-1)!.to > (recordedAt ?? -Infinity));
  const cost = lost.filter(({ node_index, start }) => start !== null && minutes[node_index]!.repeats > wall * REPEATS_PART);
  if (cost.length > 0)
    return `${nodesText(cost.map(({ node_index }) => node_index))} recorded nothing after the last files that ${cost.length === 1 ? 'it' : 'they'} got.`;
  return never.length > 0 ? `${nodesText(never)} ${kind === 'queue' ? 'never started' : 'recorded nothing'}.` : '';
}

function longestFile(started: readonly NodeLane[]): { file: number; seconds: number; node_index: number } {
  let longest = { file: 0, seconds: -1, node_index: 0 };
  for (const { node_index, spans } of started) {
    for (const { files, seconds } of spans) {
      for (const [i, file] of files.entries()) if (seconds[i]! > longest.seconds) longest = { file, seconds: seconds[i]!, node_index };
    }
  }
  return longest;
}

const NODES_NAMED = 5;

/** Names nodes at the start of a sentence. */
export function nodesText(indexes: readonly number[]): string {
  const named = indexes.slice(0, NODES_NAMED).join(', ');
  const more = indexes.length - NODES_NAMED;
  return `${indexes.length === 1 ? 'Node' : 'Nodes'} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

function factorText(factor: number): string {
  return `${factor < 9.95 ? factor.toFixed(1) : Math.round(factor)}x`;
}
