import { Queue } from '../src/server/engine/queue/queue.js';
import { toWeight } from '../src/server/planning/weight.js';
import { type Build, drawNodes, lowerBound, type QueueFile } from '../test/testbed/queue-simulation.js';
import { seededRandom } from '../test/testbed/random.js';
import type { Suite } from '../test/testbed/suites.js';
import { buildsOf, CONFIGURED_PULL_COST } from './planning.js';
import type { Result } from './results.js';
import { geometricMean } from './suites/geometric-mean.js';

/** How a node leaves. `cancelled`: it is told to, and tells the server. `silent`: nobody hears of it any more. `cut`: for two minutes. */
type Departure = 'cancelled' | 'silent' | 'cut';

const DEPARTURES: Record<Departure, string> = {
  cancelled: 'told to end (SIGTERM)',
  silent: 'killed, stopped, or without network',
  cut: 'without network for two minutes',
};
const NODES = 8;
const PART_THAT_LEAVES = 0.3;
const SEEDS = [1, 2, 3, 4, 5];

const MILLISECONDS = 1000;
const HEARTBEAT_MILLISECONDS = 15_000;
const SILENCE_MILLISECONDS = 90_000;
const CUT_MILLISECONDS = 120_000;
/** The runner ends, and the client reads its reports. */
const REPORT_MILLISECONDS = 1000;
const STANDBY_MILLISECONDS = 1000;

interface Node {
  index: number;
  start: number;
  speed: number;
  /** When it leaves; Infinity: it stays. */
  leavesAt: number;
  /** It will not act any more. */
  isGone: boolean;
  /** When its last work ended that counts. */
  workedUntil: number;
  pulls: number;
  batch: { seq: number; files: number[]; endsAt: number[] } | null;
}

interface Outcome {
  /** The duration over the bound, and what it took longer than 1.1 times the bound, in seconds. */
  ratio: number;
  late: number;
  /** Files that no node ran. */
  missing: number;
  /** Files that ran to their end on two nodes. */
  twice: number;
}

/** Plays builds in which nodes leave at random times, with the engine, its leases and heartbeats. */
export function chaos(suites: readonly Suite[]): Result[] {
  const builds = buildsOf(suites, 2.2, [NODES]);
  const rows = Object.entries(DEPARTURES).map(([departure, name]) => {
    const outcomes = builds.flatMap(build => SEEDS.map(seed => play(build, departure as Departure, 100 * build.seed + seed)));
    const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
    return [
      name,
      String(outcomes.length),
      geometricMean(outcomes.map(({ ratio }) => ratio)).toFixed(3),
      Math.max(...outcomes.map(({ ratio }) => ratio)).toFixed(3),
      `${Math.max(...outcomes.map(({ late }) => late)).toFixed(0)} s`,
      String(sum(({ missing }) => missing)),
      (sum(({ twice }) => twice) / outcomes.length).toFixed(1),
    ];
  });
  return [
    {
      title: 'Queues whose nodes leave',
      head: [
        'nodes that leave are',
        'builds',
        'time over the bound',
        'at most',
        'longer than 1.1 × the bound by at most',
        'files that did not run',
        'files that ran twice, a build',
      ],
      rows,
      legend:
        `Simulated builds of every suite with enough work, with ${NODES} nodes that start within 60 s and are up to 20 % faster or slower, at 2.2 s per ` +
        `pull. At random times ${100 * PART_THAT_LEAVES} % of the nodes leave. The bound: files can be divided, and a node that leaves works until the last ` +
        'end of a file, or of a batch if it is silent, of which the server learned.',
    },
  ];
}

function play({ files, pullCost, seed: buildSeed }: Build, departure: Departure, seed: number): Outcome {
  const drawn = 1000 * buildSeed + seed;
  // Who leaves has nothing to do with when a node starts.
  const random = seededRandom(1e6 + drawn);
  const total = files.reduce((sum, { actual }) => sum + actual, 0);
  const nodes = drawNodes({ nodes: NODES, seed: drawn }).map(({ start, speed }, index): Node => {
    const leaves = random() < PART_THAT_LEAVES;
    const leavesAt = leaves ? MILLISECONDS * (start + (random() * total) / NODES) : Infinity;
    return { index, start: MILLISECONDS * start, speed, leavesAt, isGone: false, workedUntil: 0, pulls: 0, batch: null };
  });
  // Somebody stays.
  if (nodes.every(({ leavesAt }) => leavesAt < Infinity)) nodes[0]!.leavesAt = Infinity;
  return new Play(files, nodes, pullCost, departure).run();
}

/** One build. Times are milliseconds. */
class Play {
  readonly #queue: Queue;
  readonly #events: { at: number; act: () => void }[] = [];
  readonly #ran: number[];
  #now = 0;
  #endedAt = 0;

  constructor(
    readonly files: readonly QueueFile[],
    readonly nodes: readonly Node[],
    readonly pullCost: number,
    readonly departure: Departure,
  ) {
    const weights = Float64Array.from(files, ({ predicted }) => toWeight(predicted));
    const parameters = { nodeTotal: nodes.length, pullCost: toWeight(CONFIGURED_PULL_COST), isGuessed: false };
    const uptime = () => this.#now;
    const lease = { silenceMilliseconds: SILENCE_MILLISECONDS, factor: 0, graceMilliseconds: 0, uptime, uptimeAt: uptime };
    this.#queue = new Queue(weights, parameters, [], lease);
    this.#ran = files.map(() => 0);
  }

  run(): Outcome {
    for (const node of this.nodes) {
      this.#at(node.start, () => this.#pull(node));
      if (node.leavesAt < Infinity) this.#at(node.leavesAt, () => this.#leave(node));
    }
    for (let event = this.#next(); event; event = this.#next()) {
      this.#now = event.at;
      event.act();
    }
    const bound = lowerBound(
      this.files.map(({ actual }) => actual),
      this.nodes.map(({ start, speed, isGone, workedUntil }) => ({
        start: start / MILLISECONDS + this.pullCost,
        speed,
        end: isGone ? workedUntil / MILLISECONDS : Infinity,
      })),
    );
    const seconds = this.#endedAt / MILLISECONDS;
    return {
      ratio: seconds / bound,
      late: Math.max(0, seconds - 1.1 * bound),
      missing: this.#ran.filter(times => times === 0).length,
      twice: this.#ran.filter(times => times > 1).length,
    };
  }

  #at(at: number, act: () => void): void {
    this.#events.push({ at, act });
  }

  #next() {
    const first = this.#events.reduce((least, { at }, i, all) => (at < all[least]!.at ? i : least), 0);
    return this.#events.splice(first, 1)[0];
  }

  #isCut({ leavesAt }: Node): boolean {
    return this.#now >= leavesAt && (this.departure !== 'cut' || this.#now < leavesAt + CUT_MILLISECONDS);
  }

  /** A pull, which waits while the node has no network. */
  #pull(node: Node): void {
    if (node.isGone) return;
    if (this.#isCut(node)) {
      this.#at(node.leavesAt + CUT_MILLISECONDS, () => this.#pull(node));
      return;
    }
    const { index, batch: last } = node;
    const queue = this.#queue;
    const process = { node_index: index, run: `run ${index}`, batch_uuid: `${index} ${node.pulls}` };
    if (last) queue.acknowledge(process, last.seq, { failed: [] });
    node.batch = null;
    node.workedUntil = this.#now;
    const handed = queue.pull(
      {
        ...{ ...process, isRetry: false, isFirstRequest: node.pulls === 0, wantsLastSplit: false, recordedRunId: null },
        ...{ hasLeft: () => false, acknowledges: true, heartbeats: true },
      },
      this.#now,
    );
    node.pulls += 1;
    if (!handed) {
      if (node.pulls > 1 && queue.standsBy(index)) this.#at(this.#now + STANDBY_MILLISECONDS, () => this.#pull(node));
      return;
    }
    queue.delivered(handed.batch.seq);
    let at = this.#now + MILLISECONDS * this.pullCost;
    const endsAt = handed.batch.files.map(file => (at += (MILLISECONDS * this.files[file]!.actual) / node.speed));
    const batch = { seq: handed.batch.seq, files: handed.batch.files, endsAt };
    node.batch = batch;
    this.#at(at, () => this.#end(node, batch));
    this.#at(this.#now + HEARTBEAT_MILLISECONDS, () => this.#beat(node, batch));
  }

  #beat(node: Node, batch: Node['batch']): void {
    if (node.isGone || node.batch !== batch) return;
    if (!this.#isCut(node)) this.#queue.heartbeat(node.index, `run ${node.index}`);
    this.#at(this.#now + HEARTBEAT_MILLISECONDS, () => this.#beat(node, batch));
  }

  #end(node: Node, batch: NonNullable<Node['batch']>): void {
    if (node.isGone || node.batch !== batch) return;
    for (const [i, file] of batch.files.entries()) this.#count(file, batch.endsAt[i]!);
    this.#pull(node);
  }

  #count(file: number, at: number): void {
    // Only the first end of a file makes the build longer.
    if (this.#ran[file] === 0) this.#endedAt = Math.max(this.#endedAt, at);
    this.#ran[file]! += 1;
  }

  #leave(node: Node): void {
    const { index, batch } = node;
    if (this.departure === 'cut') return;
    node.isGone = true;
    if (this.departure === 'silent') return;
    const process = { node_index: index, run: `run ${index}` };
    const at = this.#now;
    node.workedUntil = at;
    this.#queue.cancel(process, null, at);
    if (!batch) return;
    const passed = batch.files.filter((_, i) => batch.endsAt[i]! <= at);
    for (const file of passed) this.#count(file, at);
    const failed = batch.files.filter(file => !passed.includes(file));
    this.#at(at + REPORT_MILLISECONDS, () => this.#queue.cancel(process, { seq: batch.seq, failed: { failed } }, this.#now));
  }
}
