import type { PullSituation, QueueParameters } from '../../planning/batching/batch-weight.js';
import { commonFinishTime } from '../../planning/batching/common-finish-time.js';
import { WEIGHTS_PER_SECOND } from '../../planning/weight.js';
import { PullCost } from './pull-cost.js';

/** A batch that a node works on. */
interface Assignment {
  weight: number;
  /** When it was handed out, by the server's clock and by the work clock. */
  handedAt: number;
  workAt: number;
}

interface NodeProgress {
  /** Handed to it since it started. */
  batches: number;
  /** Null: unknown, or done. */
  task: Assignment | null;
  /** What its finished batches were predicted to take, and took. */
  predicted: number;
  elapsed: number;
}

/** What is known at a time. */
interface Snapshot {
  /** The server's clock is that of the nodes. */
  isTimed: boolean;
  now: number;
  /** How much longer than predicted all take. */
  slowdown: number;
  pullCost: number;
}

/** Seconds of predicted work that are worth as much as what was seen, when it is judged how far predictions are off. */
const PRIOR_SECONDS = 60;
const MAX_SLOWDOWN = 10;
/** A node's speed beside the others': what a few batches show beyond that is chance. */
const MAX_SPEED = 1.5;
/** After so long a node's speed counts for what it was seen to be. */
const SPEED_SECONDS = 20;
/** Batches that take less than this part of what was predicted tell that the server's clock is not that of the nodes. */
const CREDIBLE_PART = 0.05;

/**
 * How fast the nodes of a queue work and when they will ask for more, as far as their pulls tell; and what part of the
 * rest is whose. Times are weights (see weight.ts): tenths of milliseconds.
 *
 * Two clocks: the server's; and where batches end in no time by that (a simulation, a replay), the work clock, which
 * stands at the predicted end of the latest batch that is known to have ended: the order of the pulls tells it.
 */
export class NodeSpeeds {
  readonly #cost: PullCost;
  readonly #nodes = new Map<number, NodeProgress>();
  #predicted = 0;
  #elapsed = 0;
  #firstPullAt: number | null = null;
  #work = 0;
  readonly #speeds: Float64Array;
  readonly #ready: Float64Array;

  constructor(readonly outlook: QueueParameters) {
    this.#cost = new PullCost(outlook.pullCost);
    this.#speeds = new Float64Array(outlook.nodeTotal);
    this.#ready = new Float64Array(outlook.nodeTotal);
  }

  /** The node asks for more: what it had is done, unless it starts (again). */
  recordPull(node: number, starts: boolean, millis: number): void {
    const progress = this.#progress(node);
    const { task } = progress;
    progress.task = null;
    if (starts) {
      if (progress.batches > 0) this.#restart(progress, millis);
      return;
    }
    if (!task) return;
    const elapsed = Math.max(0, this.#timeOf(millis) - task.handedAt);
    const predicted = task.weight + this.#cost.value;
    progress.predicted += predicted;
    progress.elapsed += elapsed;
    this.#predicted += predicted;
    this.#elapsed += elapsed;
    this.#work = Math.max(this.#work, task.workAt + predicted);
    // Where predictions say little, or the clock, nothing tells the cost of a pull from the tests.
    if (!this.outlook.isGuessed && elapsed >= CREDIBLE_PART * predicted) this.#cost.observe(task.weight, elapsed);
  }

  /** A node starts again, maybe all of them, maybe hours later: who is overdue is not waited for, but may ask any time. */
  #restart(progress: NodeProgress, millis: number): void {
    progress.batches = 0;
    const view = this.#snapshot(millis);
    for (const other of this.#nodes.values()) if (other.task && this.#endOf(other, other.task, view) < view.now) other.task = null;
  }

  /** The node was handed a batch of this weight. */
  recordBatch(node: number, weight: number, millis: number): void {
    const progress = this.#progress(node);
    progress.batches += 1;
    progress.task = { weight, handedAt: this.#timeOf(millis), workAt: this.#work };
  }

  /** The node never got its last batch. */
  discardBatch(node: number): void {
    const progress = this.#progress(node);
    progress.batches -= 1;
    progress.task = null;
  }

  /** What a node that asks now stands for. */
  situationOf(node: number, left: number, millis: number): PullSituation {
    const view = this.#snapshot(millis);
    const { now, pullCost, slowdown } = view;
    for (let i = 0; i < this.outlook.nodeTotal; i++) {
      const progress = this.#nodes.get(i);
      this.#speeds[i] = (progress ? this.#speedOf(progress, view) : 1) / slowdown;
      this.#ready[i] = pullCost + this.#freeAt(progress, view);
    }
    const line = commonFinishTime(left, this.#speeds, this.#ready);
    const speed = this.#speeds[node] ?? 1 / slowdown;
    return { share: speed * (line - now - pullCost), batches: this.#nodes.get(node)?.batches ?? 0, left, pullCost };
  }

  #snapshot(millis: number): Snapshot {
    const isTimed = this.#elapsed >= CREDIBLE_PART * this.#predicted;
    return {
      isTimed,
      now: isTimed ? this.#timeOf(millis) : this.#work,
      slowdown: isTimed ? this.#slowdown() : 1,
      pullCost: this.#cost.value,
    };
  }

  /** How much longer than predicted all take. */
  #slowdown(): number {
    const prior = PRIOR_SECONDS * WEIGHTS_PER_SECOND;
    return clamp((this.#elapsed + prior) / (this.#predicted + prior), MAX_SLOWDOWN);
  }

  /** When the node is expected to be done with what it has, now at the earliest. */
  #freeAt(progress: NodeProgress | undefined, view: Snapshot): number {
    const { now, slowdown, pullCost } = view;
    // A node that did not come yet, or is overdue, is expected after as long again (Lindy's law): it may be gone.
    if (!progress) return 2 * now;
    if (!progress.task) return now;
    const end = this.#endOf(progress, progress.task, view);
    if (end >= now) return end;
    // But not after longer than its batch was to take: all are overdue after an outage. Of guesses that says nothing.
    const most = this.outlook.isGuessed ? Infinity : pullCost + progress.task.weight * slowdown;
    return now + Math.min(now - end, most);
  }

  #endOf(progress: NodeProgress, { weight, handedAt, workAt }: Assignment, view: Snapshot): number {
    const { isTimed, slowdown, pullCost } = view;
    return (isTimed ? handedAt : workAt) + pullCost + (weight * slowdown) / this.#speedOf(progress, view);
  }

  /** Beside the others: 1 as long as nothing is known. */
  #speedOf({ predicted, elapsed }: NodeProgress, { isTimed, slowdown }: Snapshot): number {
    if (!isTimed || elapsed === 0) return 1;
    const trust = Math.min(1, elapsed / (SPEED_SECONDS * WEIGHTS_PER_SECOND));
    return 1 + trust * (clamp((predicted / elapsed) * slowdown, MAX_SPEED) - 1);
  }

  #progress(node: number): NodeProgress {
    let progress = this.#nodes.get(node);
    if (!progress) this.#nodes.set(node, (progress = { batches: 0, task: null, predicted: 0, elapsed: 0 }));
    return progress;
  }

  /** Since the first pull. */
  #timeOf(millis: number): number {
    this.#firstPullAt ??= millis;
    return (Math.max(0, millis - this.#firstPullAt) / 1000) * WEIGHTS_PER_SECOND;
  }
}

/** Between 1 / greatest and greatest. */
function clamp(ratio: number, greatest: number): number {
  return Math.min(greatest, Math.max(1 / greatest, ratio));
}
