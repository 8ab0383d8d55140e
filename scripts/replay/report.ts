import Table from 'cli-table3';
import type { NodeResult } from './build.js';
import type { Timings } from './timings.js';

export interface Replayed {
  timings: Timings;
  pullCost: number;
  regular: { nodes: NodeResult[]; milliseconds: number };
  queue: NodeResult[];
}

export function toJson({ timings, regular, queue }: Replayed): string {
  const { total, lowerBound } = bounds(timings, queue.length);
  return JSON.stringify({
    files: timings.size,
    seconds: total,
    lower_bound: lowerBound,
    regular: { makespan: makespan(regular.nodes), nodes: regular.nodes, milliseconds: regular.milliseconds },
    queue: { makespan: makespan(queue), nodes: queue },
  });
}

export function toText({ timings, pullCost, regular, queue }: Replayed): string {
  const { total, longest, lowerBound } = bounds(timings, queue.length);
  const [path, seconds] = longest;
  const table = new Table({
    head: ['node', 'regular files', 'seconds', 'queue files', 'batches', 'seconds'],
    colAligns: Array(6).fill('right'),
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const [node, a] of regular.nodes.entries()) {
    const b = queue[node]!;
    table.push([node, a.files, a.seconds.toFixed(1), b.files, b.batches, b.seconds.toFixed(1)]);
  }
  const mode = (name: string, nodes: readonly NodeResult[]) =>
    `${name}  makespan ${makespan(nodes).toFixed(1)} s = ${(makespan(nodes) / lowerBound).toFixed(4)} x the lower bound`;
  return [
    table.toString(),
    `${timings.size} files, ${total.toFixed(1)} s, longest ${seconds.toFixed(1)} s (${path})`,
    `lower bound  ${lowerBound.toFixed(1)} s: ${lowerBound === seconds ? 'the longest file' : `total / ${queue.length} nodes`}`,
    `${mode('regular', regular.nodes)}; answered in ${regular.milliseconds.toFixed(0)} ms`,
    `${mode('queue  ', queue)}; each pull costs a node ${pullCost} s`,
  ].join('\n');
}

function bounds(timings: Timings, nodes: number): { total: number; longest: [path: string, seconds: number]; lowerBound: number } {
  const total = [...timings.values()].reduce((sum, seconds) => sum + seconds, 0);
  const longest = [...timings].reduce((a, b) => (b[1] > a[1] ? b : a));
  return { total, longest, lowerBound: Math.max(total / nodes, longest[1]) };
}

function makespan(nodes: readonly NodeResult[]): number {
  return Math.max(...nodes.map(({ seconds }) => seconds));
}
