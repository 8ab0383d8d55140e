import { seededRandom } from '../random.js';
import { Connections } from './connections.js';
import { inParallel } from './in-parallel.js';
import type { Load } from './loader.js';
import { NODES } from './messages.js';
import { OpenQueue } from './open-queue.js';
import type { Tally } from './tally.js';

/** A few pulls from each of many queues, in random order, as fast as the server answers. The load has a fixed number of pulls. */
export interface RandomPullsPlan {
  kind: 'scattered';
  queues: number;
  files: number;
  pullsEach: number;
  connections: number;
}

export class RandomPulls implements Load {
  readonly #connections: Connections;
  readonly #queues: OpenQueue[] = [];
  #done: Promise<void> = Promise.resolve();

  constructor(
    url: string,
    readonly plan: RandomPullsPlan,
  ) {
    this.#connections = new Connections(url, plan.connections);
  }

  async prepare(): Promise<void> {
    const { queues, files, connections } = this.plan;
    await inParallel(connections, Array(queues).keys(), async number => {
      const queue = new OpenQueue(`scattered-${number}`, this.#connections);
      await queue.create(files);
      this.#queues.push(queue);
    });
  }

  begin(tally: Tally): void {
    const { pullsEach, connections } = this.plan;
    const random = seededRandom(1);
    const order = Array.from({ length: pullsEach }, () => this.#queues).flat();
    for (let i = order.length - 1; i > 0; i--) {
      const other = Math.floor(random() * (i + 1));
      [order[i], order[other]] = [order[other]!, order[i]!];
    }
    this.#done = inParallel(connections, order, async queue => {
      try {
        const { milliseconds } = await queue.pull(Math.floor(random() * NODES));
        tally.recordAnswer(milliseconds);
      } catch (error) {
        tally.recordFailure(error);
      }
    });
  }

  end(): Promise<void> {
    return this.#done;
  }
}
