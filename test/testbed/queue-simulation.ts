import { seededRandom } from './random.js';

/** A test file of a simulated build. */
export interface QueueFile {
  /** Seconds as predicted by the queue, and as measured on a node of speed 1. */
  predicted: number;
  actual: number;
  /** The part of `actual` that the node records (default: all). */
  reported?: number;
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
  /** The second at which a node starts (default: any one within a minute). */
  startOf?: (node: number, random: () => number) => number;
  /** The first node that pulls twice dies with its second batch. */
  dies?: boolean;
  /** The server's clock is frozen, as with simulated nodes. */
  frozen?: boolean;
}

/** Returns the indices of the next files of a node. None are left when it returns none. */
export type NextBatch = (node: number, millis: number) => number[];

export interface QueueSetting {
  nodes: number;
  /** Seconds, as configured in the server. The real cost of a pull may differ. */
  pullCost: number;
}

/** A way to hand out the files of a queue. */
export type Policy = (files: readonly QueueFile[], setting: QueueSetting) => NextBatch;

export interface Outcome {
  /** The duration of the build over its lower bound with the nodes that worked. */
  ratio: number;
  /** Pulls that returned files: the mean and the maximum of the nodes. */
  meanPulls: number;
  maxPulls: number;
}

/** The speeds of nodes differ from 1 by at most this spread. */
const SPEED_SPREAD = 0.2;

interface Node {
  start: number;
  speed: number;
  /** When the node pulls next. */
  time: number;
  pulls: number;
}

/** Simulates a build: nodes of different speeds start one after another, and pull until the queue is empty. */
export function simulate({ files, pullCost, dies, frozen, ...build }: Build, nextBatch: NextBatch): Outcome {
  const nodes = drawNodes(build);
  const working = new Set(nodes.slice(0, build.startingNodes).keys());
  const survivors = new Set(working);
  const ran: number[] = [];
  let hasDied = false;
  while (working.size > 0) {
    const index = [...working].reduce((first, other) => (nodes[other]!.time < nodes[first]!.time ? other : first));
    const node = nodes[index]!;
    const batch = nextBatch(index, frozen ? 0 : node.time * 1000);
    if (batch.length === 0) {
      working.delete(index);
      continue;
    }
    node.pulls += 1;
    if (dies && !hasDied && node.pulls === 2) {
      hasDied = true;
      working.delete(index);
      survivors.delete(index);
      continue;
    }
    const seconds = batch.map(file => files[file]!.actual);
    ran.push(...seconds);
    node.time += pullCost + sum(seconds) / node.speed;
  }
  const survived = [...survivors].map(index => nodes[index]!);
  const end = Math.max(...nodes.filter(({ pulls }) => pulls > 0).map(({ time }) => time));
  const pulls = survived.map(node => node.pulls);
  return {
    ratio:
      end /
      lowerBound(
        ran,
        survived.map(({ start, speed }) => ({ start: start + pullCost, speed })),
      ),
    meanPulls: sum(pulls) / pulls.length,
    maxPulls: Math.max(...pulls),
  };
}

/** The nodes of a build: when they start, in seconds, and how fast they are. */
export function drawNodes({ nodes, seed, startOf = (_, random) => 60 * random() }: Pick<Build, 'nodes' | 'seed' | 'startOf'>): Node[] {
  const random = seededRandom(seed);
  const starts = Array.from({ length: nodes }, (_, node) => startOf(node, random));
  return starts.map(start => ({ start, speed: 1 + SPEED_SPREAD * (2 * random() - 1), time: start, pulls: 0 }));
}

/**
 * A lower bound of the duration on these nodes, as if files could be divided. Found by bisection.
 * @param nodes with the time at which each leaves; missing: it stays
 */
export function lowerBound(seconds: readonly number[], nodes: readonly (Pick<Node, 'start' | 'speed'> & { end?: number })[]): number {
  const total = sum(seconds);
  const longest = seconds.reduce((max, each) => Math.max(max, each), 0);
  let low = 0;
  let high = Math.max(...nodes.filter(({ end = Infinity }) => end === Infinity).map(({ start, speed }) => start + total / speed));
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    const done = sum(nodes.map(({ start, speed, end = Infinity }) => speed * Math.max(0, Math.min(end, middle) - start)));
    if (done < total) low = middle;
    else high = middle;
  }
  return Math.max(high, Math.min(...nodes.map(({ start, speed }) => start + longest / speed)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
