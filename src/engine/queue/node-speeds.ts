import type { QueueParameters } from '../../planning/batching/batch-weight.js';
import { commonFinishTime } from '../../planning/batching/common-finish-time.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import type { Situation } from './decision.js';
import { PullCost } from './pull-cost.js';

/** A batch that a node works on. */
interface Assignment {
  weight: number;
  /** When it was handed out, by the server's clock and by the work clock. */
  handedAt: number;
  workAt: number;
}

interface NodeProgress {
  /** Batches since the node started. */
  batches: number;
  /** Null: none, or unknown. */
  assignment: Assignment | null;
  /** The predicted and the actual duration of its finished batches. */
  predicted: number;
  elapsed: number;
}

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
const CREDIBLE_PART = 0.05;

/**
 * Estimates the speeds of a queue's nodes from their pulls, when they will pull again, and which part of the remaining files
 * each should get. Times are weights (see weight.ts).
 *
 * It has two clocks: the server's, and the work clock, for batches that take no time by the server's (a simulation, a replay).
 * The work clock stands at the latest predicted end of a finished batch, so it follows the order of the pulls.
 */
export class NodeSpeeds {
  readonly #cost: PullCost;
  readonly #nodes = new Map<number, NodeProgress>();
  #predicted = 0;
  #elapsed = 0;
  #firstPullAt: number | null = null;
  #workClock = 0;
  readonly #speeds: Float64Array;
  readonly #ready: Float64Array;

  constructor(readonly parameters: QueueParameters) {
    this.#cost = new PullCost(parameters.pullCost);
    this.#speeds = new Float64Array(parameters.nodeTotal);
    this.#ready = new Float64Array(parameters.nodeTotal);
  }

  /** Records that the node asks for a batch. It has finished the previous one, unless it starts or restarts. */
  recordPull(node: number, isFirstRequest: boolean, millis: number): void {
    const progress = this.#progress(node);
    const { assignment } = progress;
    progress.assignment = null;
    if (isFirstRequest) {
      if (progress.batches > 0) this.#restart(progress, millis);
      return;
    }
    if (!assignment) return;
    const elapsed = Math.max(0, this.#timeOf(millis) - assignment.handedAt);
    const predicted = assignment.weight + this.#cost.value;
    progress.predicted += predicted;
    progress.elapsed += elapsed;
    this.#predicted += predicted;
    this.#elapsed += elapsed;
    this.#workClock = Math.max(this.#workClock, assignment.workAt + predicted);
    // With guessed durations or a stopped clock, the cost of a pull cannot be separated from that of the tests.
    if (!this.parameters.isGuessed && elapsed >= CREDIBLE_PART * predicted) this.#cost.observe(assignment.weight, elapsed);
  }

  /** A node restarts, perhaps hours later and together with others. Overdue nodes may pull at any time, so they are no longer waited for. */
  #restart(progress: NodeProgress, millis: number): void {
    progress.batches = 0;
    const snapshot = this.#snapshot(millis);
    for (const other of this.#nodes.values())
      if (other.assignment && this.#endOf(other, other.assignment, snapshot) < snapshot.now) other.assignment = null;
  }

  /** Records that the node was handed a batch of this weight. */
  recordBatch(node: number, weight: number, millis: number): void {
    const progress = this.#progress(node);
    progress.batches += 1;
    progress.assignment = { weight, handedAt: this.#timeOf(millis), workAt: this.#workClock };
  }

  /** Forgets the last batch of the node, which never reached it. */
  discardBatch(node: number): void {
    const progress = this.#progress(node);
    progress.batches -= 1;
    progress.assignment = null;
  }

  /** Returns the inputs for the size of the batch that the node asks for. */
  situationOf(node: number, remaining: number, millis: number): Situation {
    const snapshot = this.#snapshot(millis);
    const { now, pullCost, slowdown } = snapshot;
    for (let i = 0; i < this.parameters.nodeTotal; i++) {
      const progress = this.#nodes.get(i);
      this.#speeds[i] = (progress ? this.#speedOf(progress, snapshot) : 1) / slowdown;
      this.#ready[i] = pullCost + this.#freeAt(progress, snapshot);
    }
    const finishTime = commonFinishTime(remaining, this.#speeds, this.#ready);
    const speed = this.#speeds[node] ?? 1 / slowdown;
    return {
      share: speed * (finishTime - now - pullCost),
      batches: this.#nodes.get(node)?.batches ?? 0,
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
  #freeAt(progress: NodeProgress | undefined, snapshot: Snapshot): number {
    const { now, slowdown, pullCost } = snapshot;
    // A node that has not pulled yet, or is overdue, may be dead: it is expected after the same time again (Lindy's law).
    if (!progress) return 2 * now;
    const { assignment } = progress;
    if (!assignment) return now;
    const end = this.#endOf(progress, assignment, snapshot);
    if (end >= now) return end;
    // All nodes are overdue after an outage, so the wait is limited to the duration of the batch, unless that is a guess.
    const limit = this.parameters.isGuessed ? Infinity : pullCost + assignment.weight * slowdown;
    return now + Math.min(now - end, limit);
  }

  #endOf(progress: NodeProgress, { weight, handedAt, workAt }: Assignment, snapshot: Snapshot): number {
    const { isTimed, slowdown, pullCost } = snapshot;
    return (isTimed ? handedAt : workAt) + pullCost + (weight * slowdown) / this.#speedOf(progress, snapshot);
  }

  /** The speed relative to the other nodes; 1 while nothing is known. */
  #speedOf({ predicted, elapsed }: NodeProgress, { isTimed, slowdown }: Snapshot): number {
    if (!isTimed || elapsed === 0) return 1;
    const trust = Math.min(1, elapsed / (SPEED_SECONDS * WEIGHTS_PER_SECOND));
    return 1 + trust * (clamp((predicted / elapsed) * slowdown, MAX_SPEED) - 1);
  }

  #progress(node: number): NodeProgress {
    let progress = this.#nodes.get(node);
    if (!progress) this.#nodes.set(node, (progress = { batches: 0, assignment: null, predicted: 0, elapsed: 0 }));
    return progress;
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
