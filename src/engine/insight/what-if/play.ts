import type { QueueParameters } from '../../../planning/batching/batch-weight.js';
import { pack } from '../../../planning/packing/pack.js';
import { Queue } from '../../queue/queue.js';

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
  /** Sum over the nodes of the time from their start to the end of the last one. */
  nodeSeconds: number;
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

const REQUEST = {
  run: 'play',
  batch_uuid: null,
  isRetry: false,
  wantsLastSplit: false,
  recordedSubset: null,
  hasLeft: () => false,
};

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
  const free = new FreeNodes(starts);
  const ends = starts.slice();
  let wall = 0;
  for (let node = free.first; free.timeOf(node) < Infinity; node = free.first) {
    const at = free.timeOf(node);
    const files = next(node, at);
    if (files.length === 0) {
      free.setFirst(Infinity);
      continue;
    }
    let work = 0;
    for (const file of files) work += seconds[file]!;
    ends[node] = at + pullCost + work / speeds[node]!;
    wall = Math.max(wall, ends[node]!);
    free.setFirst(ends[node]!);
  }
  return { wall, nodeSeconds: starts.reduce((sum, start) => sum + Math.max(0, wall - start), 0), ends };
}

/** When each node is free, in a binary heap: the node that is free first is on top. */
class FreeNodes {
  readonly #times: Float64Array;
  readonly #heap: Uint32Array;

  constructor(starts: Float64Array) {
    this.#times = starts.slice();
    // A sorted array is a heap.
    this.#heap = Uint32Array.from(starts.keys()).sort((a, b) => starts[a]! - starts[b]! || a - b);
  }

  get first(): number {
    return this.#heap[0]!;
  }

  timeOf(node: number): number {
    return this.#times[node]!;
  }

  /** Sets a later time for the first node. */
  setFirst(time: number): void {
    const heap = this.#heap;
    const node = heap[0]!;
    this.#times[node] = time;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.#isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!this.#isBefore(heap[child]!, node)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = node;
  }

  #isBefore(node: number, other: number): boolean {
    return this.timeOf(node) < this.timeOf(other) || (this.timeOf(node) === this.timeOf(other) && node < other);
  }
}
