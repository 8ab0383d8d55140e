import { Queue } from '../../engine/queue/queue.js';
import type { QueueParameters } from '../../planning/batching/batch-weight.js';
import { pack } from '../../planning/packing/pack.js';

/** A suite to play, in planning order: estimates in descending order. */
export interface PlayedSuite {
  /** The estimates that the plan is made with (see weight.ts). */
  weights: Float64Array;
  /** The seconds that each file takes on a node of usual speed. */
  seconds: Float64Array;
}

/** The nodes that play it, by node_index. */
export interface PlayedNodes {
  /** Seconds from the start of the first node to that of each. */
  starts: Float64Array;
  /** Seconds of test files that each node runs in a second. */
  speeds: Float64Array;
  /** Seconds that a node loses with each batch. */
  pullCost: number;
}

/** The outcome. Durations are seconds. */
export interface Played {
  /** From the start of the first node to the end of the last one that ran a file. */
  wall: number;
  /** By node: the time from its start to its end. */
  jobs: Float64Array;
  /** When each node ends, in seconds since the first start; its start if it ran no file. */
  ends: Float64Array;
}

/** Returns the files that a node runs next, as indices; none: it ends. */
export type NextFiles = (node: number, seconds: number) => readonly number[];

/** Plays a suite from a queue. */
export function playQueue({ weights, seconds }: PlayedSuite, nodes: PlayedNodes, parameters: QueueParameters): Played {
  const queue = new Queue(weights, parameters);
  const hasPulled = new Uint8Array(nodes.starts.length);
  return playNodes(seconds, nodes, (node_index, at) => {
    const isFirstRequest = hasPulled[node_index] === 0;
    hasPulled[node_index] = 1;
    const handed = queue.pull({ ...REQUEST, node_index, isFirstRequest }, at * 1000);
    if (!handed) return [];
    queue.delivered(handed.batch.seq);
    return handed.batch.files;
  });
}

const REQUEST = { run: 'play', batch_uuid: null, isRetry: false, wantsLastSplit: false, recordedRunId: null, hasLeft: () => false };

/** Plays a suite by a split that is made before the nodes start. */
export function playSplit({ weights, seconds }: PlayedSuite, nodes: PlayedNodes): Played {
  return playParts(seconds, nodes, pack(weights, nodes.starts.length).nodes);
}

/** Plays fixed parts of a suite, one a node. */
export function playParts(seconds: Float64Array, nodes: PlayedNodes, parts: readonly (readonly number[])[]): Played {
  const left = [...parts];
  return playNodes(seconds, nodes, node => left.splice(node, 1, [])[0]!);
}

/** Plays nodes that take files until there are none. The node that is free first takes first, of several the one with the lowest index. */
export function playNodes(seconds: Float64Array, { starts, speeds, pullCost }: PlayedNodes, next: NextFiles): Played {
  /** When each node is free; Infinity: it has ended. */
  const free = starts.slice();
  const ends = starts.slice();
  let wall = 0;
  for (let node = firstOf(free); free[node]! < Infinity; node = firstOf(free)) {
    const files = next(node, free[node]!);
    if (files.length === 0) {
      free[node] = Infinity;
      continue;
    }
    let work = 0;
    for (const file of files) work += seconds[file]!;
    ends[node] = free[node]! + pullCost + work / speeds[node]!;
    wall = Math.max(wall, ends[node]!);
    free[node] = ends[node]!;
  }
  return {
    wall,
    jobs: ends.map((end, node) => end - starts[node]!),
    ends,
  };
}

/** The index of the least time. A pull of a queue looks at all nodes, too. */
function firstOf(times: Float64Array): number {
  let first = 0;
  for (let node = 1; node < times.length; node++) if (times[node]! < times[first]!) first = node;
  return first;
}
