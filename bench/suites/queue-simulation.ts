import { seededRandom } from '../random.js';

/** A test file of a simulated build. */
export interface QueueFile {
  /** Seconds as predicted by the queue, and as measured on a node of speed 1. */
  predicted: number;
  actual: number;
  isUnknown: boolean;
}

export interface Build {
  /** Slowest predicted first; in listed order if no time is known. */
  files: readonly QueueFile[];
  nodes: number;
  /** Seconds that each pull costs a node. */
  pullCost: number;
  seed: number;
  /** Number of nodes that start (default: all). */
  startingNodes?: number;
  /** The first node that pulls twice dies with its second batch. */
  dies?: boolean;
  /** The server's clock is frozen, as with simulated nodes. */
  frozen?: boolean;
}

/** Hands out batches: indices of files. An empty batch is the end of the queue. */
export type NextBatch = (node: number, millis: number) => number[];

export interface Outcome {
  /** The duration of the build, divided by the least possible one with the nodes that worked. */
  ratio: number;
  /** SteadyPulls that returned files: the mean of the nodes, and the most. */
  meanPulls: number;
  maxPulls: number;
}

/** The nodes start within this time, and their speeds differ from 1 by at most this spread. */
const STAGGER_SECONDS = 60;
const SPEED_SPREAD = 0.2;

/** Simulates a build: nodes of different speeds start one after another, and pull until the queue is empty. */
export function simulate({ files, nodes, pullCost, seed, startingNodes = nodes, dies, frozen }: Build, dispense: NextBatch): Outcome {
  const random = seededRandom(seed);
  const starts = Array.from({ length: nodes }, () => random() * STAGGER_SECONDS);
  const speeds = starts.map(() => 1 + SPEED_SPREAD * (2 * random() - 1));
  const times = [...starts];
  const pulls = starts.map(() => 0);
  const working = new Set([...times.keys()].slice(0, startingNodes));
  let wall = 0;
  let dead = -1;
  const ran: number[] = [];
  while (working.size > 0) {
    const node = [...working].reduce((first, other) => (times[other]! < times[first]! ? other : first));
    const batch = dispense(node, frozen ? 0 : times[node]! * 1000);
    if (batch.length === 0) {
      working.delete(node);
      continue;
    }
    pulls[node]! += 1;
    if (dies && dead === -1 && pulls[node] === 2) {
      working.delete((dead = node));
      continue;
    }
    const seconds = batch.map(file => files[file]!.actual);
    ran.push(...seconds);
    times[node]! += pullCost + seconds.reduce((sum, each) => sum + each, 0) / speeds[node]!;
    wall = Math.max(wall, times[node]!);
  }
  const survivors = [...starts.keys()].filter(node => node < startingNodes && node !== dead);
  const least = leastWall(
    ran,
    survivors.map(node => ({ start: starts[node]! + pullCost, speed: speeds[node]! })),
  );
  const handed = survivors.map(node => pulls[node]!);
  return {
    ratio: wall / least,
    meanPulls: handed.reduce((sum, count) => sum + count, 0) / handed.length,
    maxPulls: Math.max(...handed),
  };
}

/** A lower bound of the duration on these nodes, as if files could be divided. Found by bisection. */
function leastWall(seconds: readonly number[], nodes: readonly { start: number; speed: number }[]): number {
  const total = seconds.reduce((sum, each) => sum + each, 0);
  const longest = seconds.reduce((most, each) => Math.max(most, each), 0);
  let low = 0;
  let high = Math.max(...nodes.map(({ start, speed }) => start + total / speed));
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    const done = nodes.reduce((sum, { start, speed }) => sum + speed * Math.max(0, middle - start), 0);
    if (done < total) low = middle;
    else high = middle;
  }
  return Math.max(high, Math.min(...nodes.map(({ start, speed }) => start + longest / speed)));
}
