import { Connections } from './connections.js';
import { inParallel } from './in-parallel.js';
import type { Load } from './loader.js';
import { NODES } from './messages.js';
import { OpenQueue } from './open-queue.js';
import type { Tally } from './tally.js';

/** Pulls from many queues at a constant rate, even if the server does not keep up. A queue that ends is replaced by a new one. */
export interface SteadyPullsPlan {
  kind: 'pulls';
  perSecond: number;
  connections: number;
  queues: number;
  files: number;
}

/** Interval between checks whether pulls are due. */
const TICK_MILLISECONDS = 2;

export class SteadyPulls implements Load {
  readonly #connections: Connections;
  #queues: OpenQueue[] = [];
  #created = 0;
  #pulls = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #pending = new Set<Promise<void>>();

  constructor(
    url: string,
    readonly plan: SteadyPullsPlan,
  ) {
    this.#connections = new Connections(url, plan.connections);
  }

  async prepare(): Promise<void> {
    await inParallel(4, Array(this.plan.queues).keys(), async () => {
      this.#queues.push(await this.#create());
    });
  }

  begin(tally: Tally): void {
    const from = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      const due = ((performance.now() - from) / 1000) * this.plan.perSecond;
      for (; sent < due; sent++) this.#track(this.#pull(tally), tally);
    }, TICK_MILLISECONDS);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #create(): Promise<OpenQueue> {
    const queue = new OpenQueue(`pulls-${this.#created++}`, this.#connections);
    await queue.create(this.plan.files);
    return queue;
  }

  async #pull(tally: Tally): Promise<void> {
    const pull = this.#pulls++;
    const slot = pull % this.#queues.length;
    const queue = this.#queues[slot]!;
    const { isEnd, milliseconds } = await queue.pull(Math.floor(pull / this.#queues.length) % NODES);
    // The answer at the end of a queue is cheaper, so it does not count.
    if (!isEnd) tally.recordAnswer(milliseconds);
    else if (this.#queues[slot] === queue) await this.#replace(slot);
  }

  async #replace(slot: number): Promise<void> {
    const ended = this.#queues[slot];
    const queue = await this.#create();
    if (this.#queues[slot] === ended) this.#queues[slot] = queue;
  }

  #track(work: Promise<void>, tally: Tally): void {
    const pending = work.catch((error: unknown) => tally.recordFailure(error)).finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
  }
}
