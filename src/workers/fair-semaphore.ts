/** The work that waits, by owner. The first owner is next. */
type Waiting = Map<unknown, (() => void)[]>;

/** Limits how many pieces of work run at a time. Owners take turns, so one with much work does not delay the others. */
export class FairSemaphore {
  readonly #waiting: Waiting = new Map();
  #count = 0;
  #running = 0;

  constructor(readonly atOnce: number) {}

  /** The number of waiting pieces of work. */
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

  /** Starts the next waiting work, or frees the place. */
  #next(): void {
    const [first] = this.#waiting;
    if (!first) {
      this.#running -= 1;
      return;
    }
    const [owner, own] = first;
    this.#count -= 1;
    // The owner moves to the end of the line.
    this.#waiting.delete(owner);
    const go = own.shift()!;
    if (own.length > 0) this.#waiting.set(owner, own);
    go();
  }
}
