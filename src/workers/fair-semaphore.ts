/** What waits, by owner. */
type Waiting = Map<unknown, (() => void)[]>;

/**
 * Lets so many pieces of work run at a time, and the owners of what waits have their turns one after the other: however much one
 * of them brings, the next of another comes second.
 */
export class FairSemaphore {
  readonly #waiting: Waiting = new Map();
  #count = 0;
  #running = 0;

  constructor(readonly atOnce: number) {}

  /** How many wait. */
  get waiting(): number {
    return this.#count;
  }

  get running(): number {
    return this.#running;
  }

  waitingOf(owner: unknown): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }

  async run<T>(owner: unknown, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.atOnce) await this.#turn(owner);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(owner: unknown): Promise<void> {
    this.#count += 1;
    return new Promise(go => {
      const own = this.#waiting.get(owner);
      if (own) own.push(go);
      else this.#waiting.set(owner, [go]);
    });
  }

  /** Hands the turn over, or gives it back. */
  #next(): void {
    const [first] = this.#waiting;
    if (!first) {
      this.#running -= 1;
      return;
    }
    const [owner, own] = first;
    this.#count -= 1;
    // Behind all others.
    this.#waiting.delete(owner);
    const go = own.shift()!;
    if (own.length > 0) this.#waiting.set(owner, own);
    go();
  }
}
