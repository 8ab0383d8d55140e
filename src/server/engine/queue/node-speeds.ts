import { type BatchCost, CostEstimate, CREDIBLE_PART } from '../../planning/batching/batch-cost.js';
import { commonFinishTime, type QueueParameters } from '../../planning/batching/batch-weight.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Situation } from './batch.js';

/** The queue at a time. */
interface Snapshot {
  /** The server's clock measures the nodes' time. */
  isTimed: boolean;
  now: number;
  cost: BatchCost;
  /** Actual over predicted duration of all batches. */
  pace: number;
}

/** Seconds of exact predictions that the pace starts with. */
const PRIOR_SECONDS = 60;
const MAX_PACE = 10;
/** The limit of a node's speed relative to the others. Larger deviations over a few batches are chance. */
const MAX_SPEED = 1.5;
/** The least speed of a usual node. */
const USUAL_MIN_SPEED = 0.7;
/** After this time the measured speed of a node counts in full. */
const SPEED_SECONDS = 20;
/** While nodes have yet to come, a batch is at most this part of the share that its node would have if they all came now. */
const SHARE_WITH_ALL = 0.8;
/**
 * But it may always take this part of the time since the first pull, in which none comes in three of four cases (Lindy's law), and as long
 * as so many pulls.
 */
const PART_OF_TIME = 0.3;
const PULLS_PER_BATCH = 25;

/**
 * The columns of a node. Numbers side by side instead of objects: a server has thousands of queues, and a pull reads all nodes of one.
 *
 * batches     since the node started, without those of files that go first; negative: it never pulled. 0 with a weight: it works on one of
 *             those, which is too small to tell anything of the node
 * done        number of its finished batches, with the sums of their files, weights and durations
 * files       of the batch that it works on, with its weight; weight NaN: none, or unknown; Infinity: it has left
 * handedAt    when that was handed out, by the server's clock
 * workAt      the same by the work clock
 */
const BATCHES = 0;
const DONE = 1;
const DONE_FILES = 2;
const DONE_WEIGHT = 3;
const ELAPSED = 4;
const FILES = 5;
const WEIGHT = 6;
const HANDED_AT = 7;
const WORK_AT = 8;
const COLUMNS = 9;

/** Room for `situationOf`: the speed of each node, and the time at which the node is ready. */
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
  readonly estimate: CostEstimate;
  readonly #nodes: Float64Array;
  /** The time that all finished batches took, and the time that they should have taken. */
  #elapsed = 0;
  #required = 0;
  #firstPullAt: number | null = null;
  #workClock = 0;

  constructor(
    readonly parameters: QueueParameters,
    meanWeight: number,
  ) {
    const { nodeTotal, pullCost: setting, isGuessed, learned = null } = parameters;
    this.estimate = new CostEstimate({ setting, meanWeight, isGuessed, learned });
    this.#nodes = new Float64Array(COLUMNS * nodeTotal);
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
    if (!Number.isFinite(weight)) return;
    const files = nodes[at + FILES]!;
    const elapsed = Math.max(0, this.#timeOf(millis) - nodes[at + HANDED_AT]!);
    const predicted = durationOf(1, files, weight, this.estimate.cost);
    this.#workClock = Math.max(this.#workClock, nodes[at + WORK_AT]! + predicted);
    if (batches === 0) return;
    const required = CREDIBLE_PART * predicted;
    nodes[at + DONE]! += 1;
    nodes[at + DONE_FILES]! += files;
    nodes[at + DONE_WEIGHT]! += weight;
    nodes[at + ELAPSED]! += elapsed;
    this.#elapsed += elapsed;
    this.#required += required;
    // With a stopped clock a batch tells nothing of its cost.
    if (elapsed >= required) this.estimate.observe(files, weight, elapsed);
    this.estimate.limitPull(elapsed);
  }

  /** A node restarts, perhaps hours later and together with others. Overdue nodes may pull at any time, so they are no longer waited for. */
  #restart(restarted: number, millis: number): void {
    const nodes = this.#nodes;
    nodes[restarted + BATCHES] = 0;
    const snapshot = this.#snapshot(millis);
    // Comparisons with NaN are false.
    for (let at = 0; at < nodes.length; at += COLUMNS) if (this.#endOf(at, snapshot) < snapshot.now) nodes[at + WEIGHT] = NaN;
  }

  /** Records that the node was handed a batch of so many files and this weight. @param isFirst they go first (see first-files.ts) */
  recordBatch(node: number, files: number, weight: number, millis: number, isFirst = false): void {
    const nodes = this.#nodes;
    const at = COLUMNS * node;
    nodes[at + BATCHES] = Math.max(0, nodes[at + BATCHES]!) + (isFirst ? 0 : 1);
    nodes[at + FILES] = files;
    nodes[at + WEIGHT] = weight;
    nodes[at + HANDED_AT] = this.#timeOf(millis);
    nodes[at + WORK_AT] = this.#workClock;
  }

  /** Forgets the last batch of the node, which never reached it. */
  discardBatch(node: number): void {
    const at = COLUMNS * node;
    this.#nodes[at + BATCHES] = Math.max(0, this.#nodes[at + BATCHES]! - 1);
    this.#nodes[at + WEIGHT] = NaN;
  }

  /** Notes that the node gets no more files until it pulls again: it has left, or died. */
  leave(node: number): void {
    this.#nodes[COLUMNS * node + WEIGHT] = Infinity;
  }

  /** Notes that the node has no batch, and pulls again at once. */
  stay(node: number): void {
    this.#nodes[COLUMNS * node + WEIGHT] = NaN;
  }

  /** Returns the inputs for the size of the batch that the node asks for, when so many files of this weight remain. */
  situationOf(node: number, files: number, weight: number, millis: number): Situation {
    const { nodeTotal } = this.parameters;
    if (speeds.length < nodeTotal) [speeds, ready] = [new Float64Array(nodeTotal), new Float64Array(nodeTotal)];
    const snapshot = this.#snapshot(millis);
    const { now, cost, pace } = snapshot;
    const [slowdown, hidden] = [pace * cost.slowdown, pace * cost.hidden];
    const { pullCost } = cost;
    const remaining = slowdown * weight + hidden * files;
    for (let i = 0; i < nodeTotal; i++) {
      speeds[i] = this.#speedOf(COLUMNS * i, snapshot);
      ready[i] = pullCost + this.#freeAt(COLUMNS * i, snapshot);
    }
    const finishTime = commonFinishTime(remaining, nodeTotal, speeds, ready);
    const speed = speeds[node]!;
    return {
      most: this.#most(node, remaining, snapshot),
      share: speed * (finishTime - now - pullCost),
      batches: Math.max(0, this.#nodes[COLUMNS * node + BATCHES]!),
      remaining,
      hasMeasured: snapshot.isTimed ? this.estimate.hasMeasured : null,
      pullCost,
      finishIn: finishTime - now,
      speed,
      slowdown,
      hidden,
    };
  }

  /** The limit of a batch, for the sake of nodes that have yet to come; Infinity: there are none. Reads `speeds` and `ready`, and changes these. */
  #most(node: number, remaining: number, { isTimed, now, cost: { pullCost } }: Snapshot): number {
    const { nodeTotal, isGuessed } = this.parameters;
    if (!isTimed || isGuessed) return Infinity;
    let areAllHere = true;
    for (let i = 0; i < nodeTotal; i++) {
      if (this.#nodes[COLUMNS * i + BATCHES]! >= 0) continue;
      areAllHere = false;
      ready[i] = now + pullCost;
    }
    if (areAllHere) return Infinity;
    const share = commonFinishTime(remaining, nodeTotal, speeds, ready) - now - pullCost;
    return speeds[node]! * Math.max(SHARE_WITH_ALL * share, PART_OF_TIME * now, PULLS_PER_BATCH * pullCost);
  }

  #snapshot(millis: number): Snapshot {
    const isTimed = this.#elapsed >= this.#required;
    const { cost } = this.estimate;
    const now = isTimed ? this.#timeOf(millis) : this.#workClock;
    return { isTimed, now, cost, pace: isTimed ? this.#pace(cost, now) : 1 };
  }

  /**
   * Batches under way count, too: with the time that their node is expected to take, or longer when they are overdue. Without them the pace
   * would be that of the fastest nodes.
   */
  #pace(cost: BatchCost, now: number): number {
    const nodes = this.#nodes;
    let predicted = PRIOR_SECONDS * WEIGHTS_PER_SECOND;
    let elapsed = predicted + this.#elapsed;
    for (let at = 0; at < nodes.length; at += COLUMNS) {
      predicted += this.#predictedOf(at, cost);
      if (nodes[at + BATCHES] === 0 || !Number.isFinite(nodes[at + WEIGHT]!)) continue;
      const underWay = this.#underWay(at, cost);
      const since = now - nodes[at + HANDED_AT]!;
      const usual = nodes[at + DONE] === 0 ? underWay / this.#unfinishedSpeed(since / underWay) : underWay;
      predicted += underWay;
      elapsed += Math.min(MAX_SPEED * underWay, Math.max(usual, since));
    }
    return clamp(elapsed / predicted, MAX_PACE);
  }

  /** The time that the finished batches of a node would take a node of usual speed. */
  #predictedOf(at: number, cost: BatchCost): number {
    const nodes = this.#nodes;
    return durationOf(nodes[at + DONE]!, nodes[at + DONE_FILES]!, nodes[at + DONE_WEIGHT]!, cost);
  }

  /** The time that the batch under way would take a node of usual speed. */
  #underWay(at: number, cost: BatchCost): number {
    return durationOf(1, this.#nodes[at + FILES]!, this.#nodes[at + WEIGHT]!, cost);
  }

  /** When the node is expected to ask for more: now at the earliest. */
  #freeAt(at: number, snapshot: Snapshot): number {
    const { now, pace, cost } = snapshot;
    const nodes = this.#nodes;
    // A node that has not pulled yet, or is overdue, may be dead: it is expected after the same time again (Lindy's law).
    if (nodes[at + BATCHES]! < 0) return 2 * now;
    if (Number.isNaN(nodes[at + WEIGHT]!)) return now;
    if (nodes[at + WEIGHT] === Infinity) return Infinity;
    const end = this.#endOf(at, snapshot);
    if (end >= now) return end;
    // All nodes are overdue after an outage, so the wait is limited to the duration of the batch, unless that is a guess.
    const limit = this.parameters.isGuessed ? Infinity : pace * this.#underWay(at, cost);
    return now + Math.min(now - end, limit);
  }

  /** When the node is expected to end its batch; NaN: it works on none. */
  #endOf(at: number, snapshot: Snapshot): number {
    const { isTimed, pace, cost } = snapshot;
    const nodes = this.#nodes;
    const work = durationOf(0, nodes[at + FILES]!, nodes[at + WEIGHT]!, cost);
    return nodes[at + (isTimed ? HANDED_AT : WORK_AT)]! + cost.pullCost + (pace * work) / this.#speedOf(at, snapshot);
  }

  /** The speed relative to the other nodes; 1 while nothing is known, and less in a first batch that lasts. */
  #speedOf(at: number, { isTimed, now, pace, cost }: Snapshot): number {
    const nodes = this.#nodes;
    const elapsed = nodes[at + ELAPSED]!;
    if (!isTimed) return 1;
    if (nodes[at + DONE] === 0) {
      if (nodes[at + BATCHES] === 0 || !Number.isFinite(nodes[at + WEIGHT]!)) return 1;
      return this.#unfinishedSpeed((now - nodes[at + HANDED_AT]!) / this.#underWay(at, cost));
    }
    if (elapsed === 0) return 1;
    const trust = Math.min(1, elapsed / (SPEED_SECONDS * WEIGHTS_PER_SECOND));
    return 1 + trust * (clamp((this.#predictedOf(at, cost) / elapsed) * pace, MAX_SPEED) - 1);
  }

  /**
   * The speed to expect of a node in its first batch. Fast nodes end first, so the others are slow: it is the mean of `USUAL_MIN_SPEED` and
   * of the speed that would have ended by now. What guesses take tells nothing of a node.
   *
   * @param part the elapsed part of what that batch takes a usual node
   */
  #unfinishedSpeed(part: number): number {
    return this.parameters.isGuessed ? 1 : Math.min(1, (USUAL_MIN_SPEED + Math.max(USUAL_MIN_SPEED, 1 / Math.max(0, part))) / 2);
  }

  /** The time since the first pull, as a weight. */
  #timeOf(millis: number): number {
    this.#firstPullAt ??= millis;
    return (Math.max(0, millis - this.#firstPullAt) / 1000) * WEIGHTS_PER_SECOND;
  }
}

/** The time that so many batches with these files take a node of usual speed. */
function durationOf(batches: number, files: number, weight: number, { pullCost, hidden, slowdown }: BatchCost): number {
  return pullCost * batches + hidden * files + slowdown * weight;
}

/** Limits a ratio to the range from 1 / max to max. */
function clamp(ratio: number, max: number): number {
  return Math.min(max, Math.max(1 / max, ratio));
}
