import type { Batch } from '../../../../src/server/engine/queue/batch.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { seededRandom } from '../../../testbed/random.js';
import { requestOf } from './requests.js';

/** Way in which a client marks a retry: by batch_uuid, by X-Retry-Count, or not at all. */
export type Kind = 'uuid' | 'header' | 'plain';

/** Probabilities, per request or answer. */
export interface Faults {
  /** An answer is written and does not arrive. */
  lost?: number;
  /** A node closes its connection before the answer is written, and tries again. */
  leaves?: number;
  /** A node dies before the answer is written, or after a batch. */
  deaths?: number;
  /** The server is killed, and starts again from its journal. */
  crashes?: number;
}

export interface Run {
  /** The CI build. The same name again is a build that is restarted under its id. */
  name: string;
  fixed: boolean;
  kinds: readonly Kind[];
  faults: Faults;
}

/** An answer that a node received. */
export interface Receipt {
  node: number;
  files: number[];
  isFirst: boolean;
}

export interface Report {
  receipts: Receipt[];
  /** Nodes that died before they reached the end of the queue. */
  dead: Set<number>;
}

interface Connection {
  /** The server process at the other end. */
  process: number;
  /** The node still listens. */
  open: boolean;
  written: boolean;
}

interface Node {
  index: number;
  kind: Kind;
  uuid: string;
  attempt: number;
  isFirst: boolean;
  connection: Connection | null;
  isDone: boolean;
}

/**
 * A queue with its server, its journal and its nodes in virtual time. The journal is a list of writes that reach the disk in
 * order. An answer leaves when the writes before it are on disk. A crash keeps those and some of the later writes.
 * The seed decides everything.
 */
export class World {
  readonly random: () => number;
  readonly files: number;
  readonly nodeTotal: number;
  /** The answer to each uuid, until its batch is put back. */
  readonly #answers = new Map<string, string>();
  readonly #events: { at: number; run: () => void }[] = [];
  #now = 0;
  #queue: Queue;
  readonly #newQueue: (journal: Iterable<Batch>) => Queue;
  #writes: { seq: number; batch: Batch | null }[] = [];
  /** The number of writes that are certainly on disk. */
  #durable = 0;
  #flushedAt = 0;
  #isUp = true;
  #process = 0;
  #uuids = 0;
  #run: Run = { name: '', fixed: false, kinds: [], faults: {} };
  #nodes: Node[] = [];
  #report: Report = { receipts: [], dead: new Set() };

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.files = 1 + this.below(60);
    this.nodeTotal = 1 + this.below(7);
    const longest = this.random() < 0.5 ? 10 : 100;
    const weights = Float64Array.from({ length: this.files }, () => 1000 + this.below(10_000 * longest)).sort((a, b) => b - a);
    const isGuessed = this.random() > 0.7;
    const pullCost = this.below(30_000);
    const first = [...new Set(Array.from({ length: this.below(4) }, () => this.below(this.files)))];
    this.#newQueue = journal => new Queue(weights, { nodeTotal: this.nodeTotal, pullCost, isGuessed, first }, journal);
    this.#queue = this.#newQueue([]);
  }

  below(bound: number): number {
    return Math.floor(this.random() * bound);
  }

  /** Runs all nodes of a CI build until each has reached the end of the queue or died. */
  play(run: Run): Report {
    this.#run = run;
    this.#report = { receipts: [], dead: new Set() };
    this.#nodes = Array.from({ length: this.nodeTotal }, (_, index) => ({
      index,
      kind: run.kinds[this.below(run.kinds.length)]!,
      uuid: '',
      attempt: 0,
      isFirst: true,
      connection: null,
      isDone: false,
    }));
    for (const node of this.#nodes) this.#later(50, () => this.#ask(node));
    while (this.#events.length > 0) {
      const next = this.#events.reduce((first, event) => (event.at < first.at ? event : first));
      this.#events.splice(this.#events.indexOf(next), 1);
      this.#now = next.at;
      next.run();
    }
    this.#durable = this.#writes.length;
    return this.#report;
  }

  /** Returns what a node without faults gets after all others. */
  latecomer(): number[] {
    const files: number[] = [];
    for (;;) {
      const uuid = `late-${this.#uuids++}`;
      const handed = this.#pull({ index: this.nodeTotal, kind: 'uuid', uuid, attempt: 0, isFirst: false });
      if (!handed) return files;
      this.#queue.delivered(handed.batch.seq);
      files.push(...handed.batch.files);
    }
  }

  /** Returns the files that each node was handed, according to the journal. */
  handed(): Map<number, Set<number>> {
    const nodes = new Map<number, Set<number>>();
    for (const { node_index, files } of this.#journal(this.#writes.length)) {
      nodes.set(node_index, new Set([...(nodes.get(node_index) ?? []), ...files]));
    }
    return nodes;
  }

  #later(maxDelay: number, run: () => void): void {
    this.#events.push({ at: this.#now + this.random() * maxDelay, run });
  }

  /** Draws whether this fault happens now. */
  #happens(fault: keyof Faults): boolean {
    return this.random() < (this.#run.faults[fault] ?? 0);
  }

  #ask(node: Node): void {
    if (node.isDone) return;
    if (node.attempt === 0) node.uuid = `${this.#run.name}-${this.#uuids++}`;
    const connection: Connection = { process: this.#process, open: true, written: false };
    node.connection = connection;
    this.#later(3, () => this.#serve(node, connection));
    const dies = this.#happens('deaths');
    if (!dies && !this.#happens('leaves')) return;
    this.#later(8, () => {
      if (connection.written || !connection.open) return;
      connection.open = false;
      if (dies) this.#die(node);
      else this.#askAgain(node);
    });
  }

  #askAgain(node: Node): void {
    node.attempt += 1;
    this.#later(10, () => this.#ask(node));
  }

  #die(node: Node): void {
    node.isDone = true;
    this.#report.dead.add(node.index);
  }

  #serve(node: Node, connection: Connection): void {
    if (!connection.open) return;
    if (!this.#isUp || connection.process !== this.#process) {
      this.#refuse(node, connection);
      return;
    }
    if (this.#happens('crashes')) this.#later(6, () => this.#crash());
    const handed = this.#pull(node, () => !connection.open);
    const key = `${node.index} ${node.uuid}`;
    const files = handed ? [...handed.batch.files] : [];
    const position = this.#writes.length;
    this.#flushedAt = Math.max(this.#flushedAt, this.#now + this.random() * 5);
    this.#events.push({
      at: this.#flushedAt,
      run: () => {
        if (connection.process !== this.#process) return;
        this.#durable = Math.max(this.#durable, position);
        connection.written = connection.open;
        if (!connection.open) {
          if (handed && this.#queue.undelivered(handed.batch.seq)) {
            this.#write(handed.batch.seq, null);
            this.#answers.delete(key);
          }
          return;
        }
        if (handed) this.#delivered(node, key, handed.batch);
        if (this.#happens('lost')) this.#refuse(node, connection);
        else this.#later(3, () => this.#receive(node, files));
      },
    });
  }

  #delivered(node: Node, key: string, batch: Batch): void {
    if (node.kind === 'uuid') {
      const text = JSON.stringify(batch.files);
      const before = this.#answers.get(key) ?? text;
      if (before !== text) throw new Error(`node ${node.index} got ${text} for a uuid that brought ${before} before`);
      this.#answers.set(key, text);
    }
    if (this.#queue.delivered(batch.seq)) this.#write(batch.seq, { ...batch, delivered: true });
  }

  #pull(
    node: Pick<Node, 'index' | 'kind' | 'uuid' | 'attempt' | 'isFirst'>,
    hasLeft: () => boolean = () => false,
  ): { batch: Batch; isNew: boolean } | null {
    const handed = this.#queue.pull(
      requestOf({
        node_index: node.index,
        run: this.#run.name,
        batch_uuid: node.kind === 'uuid' ? node.uuid : null,
        isRetry: node.kind !== 'plain' && node.attempt > 0,
        isFirstRequest: node.isFirst,
        wantsLastSplit: this.#run.fixed && node.isFirst,
        hasLeft,
      }),
      this.#now,
    );
    if (handed?.isNew) this.#write(handed.batch.seq, handed.batch);
    return handed;
  }

  /** The node's connection fails. */
  #refuse(node: Node, connection: Connection): void {
    connection.open = false;
    this.#later(3, () => this.#askAgain(node));
  }

  #receive(node: Node, files: number[]): void {
    if (node.isDone) return;
    if (files.length === 0) {
      node.isDone = true;
      return;
    }
    this.#report.receipts.push({ node: node.index, files, isFirst: node.isFirst });
    node.isFirst = false;
    node.attempt = 0;
    if (this.#happens('deaths')) this.#die(node);
    else this.#later(40, () => this.#ask(node));
  }

  #write(seq: number, batch: Batch | null): void {
    this.#writes.push({ seq, batch: structuredClone(batch) });
  }

  #journal(writes: number): Batch[] {
    const batches = new Map<number, Batch>();
    for (const { seq, batch } of this.#writes.slice(0, writes)) {
      if (batch) batches.set(seq, batch);
      else batches.delete(seq);
    }
    return [...batches.values()].sort((a, b) => a.seq - b.seq).map(batch => structuredClone(batch));
  }

  #crash(): void {
    if (!this.#isUp) return;
    this.#process += 1;
    this.#isUp = false;
    this.#writes.length = this.#durable + this.below(this.#writes.length - this.#durable + 1);
    this.#durable = this.#writes.length;
    this.#flushedAt = this.#now;
    for (const node of this.#nodes) {
      const { connection } = node;
      if (connection?.open && !connection.written) this.#refuse(node, connection);
    }
    this.#queue = this.#newQueue(this.#journal(this.#writes.length));
    this.#later(15, () => (this.#isUp = true));
  }
}
