import { randomOf } from '../random.js';

/** A test file of a simulated build. */
export interface QueueFile {
  /** Seconds as the queue predicts them, and as they turn out on a node of speed 1. */
  predicted: number;
  actual: number;
  isUnknown: boolean;
}

export interface Build {
  /** Slowest first as predicted; in listed order where nothing is known. */
  files: readonly QueueFile[];
  nodes: number;
  /** Seconds that a node loses at each pull. */
  pullCost: number;
  seed: number;
  /** Nodes that come at all; all of them unless told otherwise. */
  coming?: number;
  /** The first node that pulls twice dies with its second batch. */
  dies?: boolean;
  /** The server's clock stands still: the nodes are simulated. */
  frozen?: boolean;
}

/** Hands out batches: indices of files, none at the end. */
export type Dispense = (node: number, millis: number) => number[];

export interface Outcome {
  /** Until the last node is done, over the least that is possible with the nodes that worked. */
  ratio: number;
  /** Pulls with files, of the average node and of the busiest. */
  meanPulls: number;
  mostPulls: number;
}

/** Nodes start within this many seconds, at speeds this far apart from 1. */
const STAGGER_SECONDS = 60;
const SPEED_SPREAD = 0.2;

/** Plays a build: nodes that start one after the other and are not equally fast pull until the queue is empty. */
export function play({ files, nodes, pullCost, seed, coming = nodes, dies, frozen }: Build, dispense: Dispense): Outcome {
  const random = randomOf(seed);
  const starts = Array.from({ length: nodes }, () => random() * STAGGER_SECONDS);
  const speeds = starts.map(() => 1 + SPEED_SPREAD * (2 * random() - 1));
  const times = [...starts];
  const pulls = starts.map(() => 0);
  const working = new Set([...times.keys()].slice(0, coming));
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
  const survivors = [...starts.keys()].filter(node => node < coming && node !== dead);
  const least = leastWall(ran, survivors.map(node => ({ start: starts[node]! + pullCost, speed: speeds[node]! })));
  const handed = survivors.map(node => pulls[node]!);
  return {
    ratio: wall / least,
    meanPulls: handed.reduce((sum, count) => sum + count, 0) / handed.length,
    mostPulls: Math.max(...handed),
  };
}

/** No way to give the files to these nodes ends sooner, even if files could be cut: by bisection. */
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

