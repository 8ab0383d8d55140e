import { commonFinishTime, type QueueParameters } from '../../planning/batching/batch-weight.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Situation } from './decision.js';
import { PullCost } from './pull-cost.js';

/** The queue at a time. */
interface Snapshot {
  /** The server's clock measures the nodes' time. */
  isTimed: boolean;
  now: number;
  /** Actual over predicted duration, over all nodes. */
  slowdown: number;
  pullCost: number;
}

/** Seconds of exact predictions that the slowdown starts with. */
const PRIOR_SECONDS = 60;
const MAX_SLOWDOWN = 10;
/** The limit of a node's speed relative to the others. Larger deviations over a few batches are chance. */
const MAX_SPEED = 1.5;
/** After this time the measured speed of a node counts in full. */
const SPEED_SECONDS = 20;
/** When batches take less than this part of the prediction, the server's clock does not measure the nodes' time. */
export const CREDIBLE_PART = 0.05;

/**
 * The columns of a node. Numbers side by side instead of objects: a server has thousands of queues, and a pull reads all nodes of one.
 *
 * batches     since the node started; negative: it never pulled
 * predicted   duration of its finished batches
 * elapsed     the same as measured
 * weight      of the batch that it works on; NaN: none, or unknown
 * handedAt    when that was handed out, by the server's clock
 * workAt      the same by the work clock
 */
const BATCHES = 0;
const PREDICTED = 1;
const ELAPSED = 2;
const WEIGHT = 3;
const HANDED_AT = 4;
const WORK_AT = 5;
const COLUMNS = 6;

/** What `situationOf` works with: the speed of each node, and when it is ready. */
let speeds = new Float64Array();
let ready = new Float64Array();

/**
 * Estimates the speeds of a queue's nodes from their pulls, when they will pull again, and which part of the remaining files
 * each should get. Times are weights (see weight.ts).
 *
 * It has two clocks: the server's, and the work clock, for batches that take no time by the server's (a simulation, a replay).
 * The work clock stands at the latest predicted end of a finished batch, so it follows the order of the pulls.
 */
export class NodeSpeeds {
  readonly #cost: PullCost;
  readonly #nodes: Float64Array;
  #predicted = 0;
  #elapsed = 0;
  #firstPullAt: number | null = null;
  #workClock = 0;

  constructor(readonly parameters: QueueParameters) {
    this.#cost = new PullCost(parameters.pullCost);
    this.#nodes = new Float64Array(COLUMNS * parameters.nodeTotal);
    for (let at = 0; at < this.#nodes.length; at += COLUMNS) {
      this.#nodes[at + BATCHES] = -1;
      this.#nodes[at + WEIGHT] = NaN;
    }
  }

  /** Records that the node asks for a batch. It has finished the previous one, unless it starts or restarts. */
  recordPull(node: number, isFirstRequest: boolean, millis: number): void {
    const nodes = this.#nodes;
    const at = COLUMNS * node;
    const batches = nodes[at + BATCHES]!;
    const weight = nodes[at + WEIGHT]!;
    nodes[at + BATCHES] = Math.max(0, batches);
    nodes[at + WEIGHT] = NaN;
    if (isFirstRequest) {
      if (batches > 0) this.#restart(at, millis);
      return;
    }
    if (Number.isNaN(weight)) return;
    const elapsed = Math.max(0, this.#timeOf(millis) - nodes[at + HANDED_AT]!);
    const predicted = weight + this.#cost.value;
    nodes[at + PREDICTED]! += predicted;
    nodes[at + ELAPSED]! += elapsed;
    this.#predicted += predicted;
    this.#elapsed += elapsed;
    this.#workClock = Math.max(this.#workClock, nodes[at + WORK_AT]! + predicted);
    // With guessed durations or a stopped clock, the cost of a pull cannot be separated from that of the tests.
    if (!this.parameters.isGuessed && elapsed >= CREDIBLE_PART * predicted) this.#cost.observe(weight, elapsed);
  }

  /** A node restarts, perhaps hours later and together with others. Overdue nodes may pull at any time, so they are no longer waited for. */
  #restart(restarted: number, millis: number): void {
    const nodes = this.#nodes;
    nodes[restarted + BATCHES] = 0;
    const snapshot = this.#snapshot(millis);
    // Comparisons with NaN are false.
    for (let at = 0; at < nodes.length; at += COLUMNS) if (this.#endOf(at, snapshot) < snapshot.now) nodes[at + WEIGHT] = NaN;
  }

  /** Records that the node was handed a batch of this weight. */
  recordBatch(node: number, weight: number, millis: number): void {
    const nodes = this.#nodes;
    const at = COLUMNS * node;
    nodes[at + BATCHES] = Math.max(0, nodes[at + BATCHES]!) + 1;
    nodes[at + WEIGHT] = weight;
    nodes[at + HANDED_AT] = this.#timeOf(millis);
    nodes[at + WORK_AT] = this.#workClock;
  }

  /** Forgets the last batch of the node, which never reached it. */
  discardBatch(node: number): void {
    const at = COLUMNS * node;
    this.#nodes[at + BATCHES]! -= 1;
    this.#nodes[at + WEIGHT] = NaN;
  }

  /** Returns the inputs for the size of the batch that the node asks for. */
  situationOf(node: number, remaining: number, millis: number): Situation {
    const { nodeTotal } = this.parameters;
    if (speeds.length < nodeTotal) [speeds, ready] = [new Float64Array(nodeTotal), new Float64Array(nodeTotal)];
    const snapshot = this.#snapshot(millis);
    const { now, pullCost, slowdown } = snapshot;
    for (let i = 0; i < nodeTotal; i++) {
      speeds[i] = this.#speedOf(COLUMNS * i, snapshot) / slowdown;
      ready[i] = pullCost + this.#freeAt(COLUMNS * i, snapshot);
    }
    const finishTime = commonFinishTime(remaining, nodeTotal, speeds, ready);
    const speed = speeds[node]!;
    return {
      share: speed * (finishTime - now - pullCost),
      batches: Math.max(0, this.#nodes[COLUMNS * node + BATCHES]!),
      remaining,
      pullCost,
      finishIn: finishTime - now,
      speed: speed * slowdown,
      slowdown,
    };
  }

  #snapshot(millis: number): Snapshot {
    const isTimed = this.#elapsed >= CREDIBLE_PART * this.#predicted;
    return {
      isTimed,
      now: isTimed ? this.#timeOf(millis) : this.#workClock,
      slowdown: isTimed ? this.#slowdown() : 1,
      pullCost: this.#cost.value,
    };
  }

  /** Actual over predicted duration, over all nodes. */
  #slowdown(): number {
    const prior = PRIOR_SECONDS * WEIGHTS_PER_SECOND;
    return clamp((this.#elapsed + prior) / (this.#predicted + prior), MAX_SLOWDOWN);
  }

  /** When the node is expected to ask for more: now at the earliest. */
  #freeAt(at: number, snapshot: Snapshot): number {
    const { now, slowdown, pullCost } = snapshot;
    // A node that has not pulled yet, or is overdue, may be dead: it is expected after the same time again (Lindy's law).
    if (this.#nodes[at + BATCHES]! < 0) return 2 * now;
    const weight = this.#nodes[at + WEIGHT]!;
    if (Number.isNaN(weight)) return now;
    const end = this.#endOf(at, snapshot);
    if (end >= now) return end;
    // All nodes are overdue after an outage, so the wait is limited to the duration of the batch, unless that is a guess.
    const limit = this.parameters.isGuessed ? Infinity : pullCost + weight * slowdown;
    return now + Math.min(now - end, limit);
  }

  /** When the node is expected to end its batch; NaN: it works on none. */
  #endOf(at: number, snapshot: Snapshot): number {
    const { isTimed, slowdown, pullCost } = snapshot;
    const nodes = this.#nodes;
    return nodes[at + (isTimed ? HANDED_AT : WORK_AT)]! + pullCost + (nodes[at + WEIGHT]! * slowdown) / this.#speedOf(at, snapshot);
  }

  /** The speed relative to the other nodes; 1 while nothing is known. */
  #speedOf(at: number, { isTimed, slowdown }: Snapshot): number {
    const elapsed = this.#nodes[at + ELAPSED]!;
    if (!isTimed || elapsed === 0) return 1;
    const trust = Math.min(1, elapsed / (SPEED_SECONDS * WEIGHTS_PER_SECOND));
    return 1 + trust * (clamp((this.#nodes[at + PREDICTED]! / elapsed) * slowdown, MAX_SPEED) - 1);
  }

  /** The time since the first pull, as a weight. */
  #timeOf(millis: number): number {
    this.#firstPullAt ??= millis;
    return (Math.max(0, millis - this.#firstPullAt) / 1000) * WEIGHTS_PER_SECOND;
  }
}

/** Limits a ratio to the range from 1 / max to max. */
function clamp(ratio: number, max: number): number {
  return Math.min(max, Math.max(1 / max, ratio));
}
