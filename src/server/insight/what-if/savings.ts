import { wholeMilliseconds } from '../../../base/rounding.js';
import type { WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import type { Timeline } from '../timeline/timeline.js';
import { observe } from './observed.js';
import { type PlayedNodes, playNodes, playParts } from './play.js';

/**
 * Wall times of other methods on the recorded times of a CI run, with whole files. Round-robin: file i in the order of the paths goes to node i mod
 * N. By name: the first node gets the first N-th of the files in the order of the paths, and so on. One at a time: a queue in the order of the paths.
 * They get the same nodes, which start when they started; a node that never started gets no files. A file takes its longest recorded time on
 * every node. A node that gets its files at once loses the cost of one batch; one file at a time loses it with each file.
 */
export function baselinesOf(timeline: Timeline): WhatIfAnswer['baselines'] {
  const { seconds: recorded, starts, pullCost, rate, hidden } = observe(timeline);
  const whole = new Map<string, number>();
  for (const [i, path] of timeline.paths.entries()) {
    const file = fileOfPiece(path);
    if (!Number.isNaN(recorded[i])) whole.set(file, recorded[i]! + (whole.get(file) ?? 0));
  }
  const seconds = Float64Array.from(whole.values(), each => each + hidden * rate);
  const files = inOrderOfPaths([...whole.keys()]);
  const nodes: PlayedNodes = { starts, speeds: new Float64Array(starts.length).fill(rate), pullCost };
  const fixed = (partOf: (position: number) => number) => {
    const parts = Array.from(starts, (): number[] => []);
    for (const [position, file] of files.entries()) parts[partOf(position)]!.push(file);
    return wholeMilliseconds(playParts(seconds, nodes, parts).wall);
  };
  const count = starts.length;
  if (count === 0) return { round_robin: 0, by_name: 0, one_at_a_time: 0 };
  let next = 0;
  return {
    round_robin: fixed(position => position % count),
    by_name: fixed(position => Math.floor((position * count) / files.length)),
    one_at_a_time: wholeMilliseconds(playNodes(seconds, nodes, () => files.slice(next, ++next)).wall),
  };
}

/** The indices of the paths, sorted by UTF-16 code units. */
function inOrderOfPaths(paths: readonly string[]): number[] {
  return Array.from(paths.keys()).sort((a, b) => (paths[a]! < paths[b]! ? -1 : 1));
}
