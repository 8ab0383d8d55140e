/** Counts the requests in flight, so that a server can wait for them before it stops. */
export class InFlight {
  draining = false;
  #receiving = 0;
  #answering = 0;
  #onEnd = () => {};

  get count(): number {
    return this.#receiving + this.#answering;
  }

  startReceiving(): void {
    this.#receiving += 1;
  }

  startAnswering(): void {
    this.#receiving -= 1;
    this.#answering += 1;
  }

  end(stage: 'receiving' | 'answering'): void {
    if (stage === 'receiving') this.#receiving -= 1;
    else this.#answering -= 1;
    this.#onEnd();
  }

  /** Resolves when no request is in flight, or after the time limits: one for requests still being received, a longer one for answers. */
  async drain(seconds: { receiving: number; answering: number }): Promise<void> {
    this.draining = true;
    await this.#until(() => this.count === 0, seconds.receiving);
    await this.#until(() => this.#answering === 0, seconds.answering - seconds.receiving);
  }

  async #until(isDone: () => boolean, seconds: number): Promise<void> {
    if (isDone()) return;
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, seconds * 1000);
      this.#onEnd = () => {
        if (!isDone()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The project for which memory is reserved; null: the head of the request has no valid token. */
export type Owner = number | null;

/** Limits the memory that is reserved for bodies and answers of requests in flight: in all, and to half of that for one owner. */
export class MemoryBudget {
  #reserved = 0;
  readonly #reservedByOwner = new Map<Owner, number>();

  constructor(readonly maxBytes: number) {}

  get reservedBytes(): number {
    return this.#reserved;
  }

  get maxBytesPerOwner(): number {
    return this.maxBytes / 2;
  }

  /** Returns false and reserves nothing if either limit would be exceeded. */
  reserve(owner: Owner, bytes: number): boolean {
    const ownerBytes = (this.#reservedByOwner.get(owner) ?? 0) + bytes;
    if (ownerBytes > this.maxBytesPerOwner || this.#reserved + bytes > this.maxBytes) return false;
    this.#reserved += bytes;
    this.#reservedByOwner.set(owner, ownerBytes);
    return true;
  }

  release(owner: Owner, bytes: number): void {
    if (bytes === 0) return;
    this.#reserved -= bytes;
    const ownerBytes = this.#reservedByOwner.get(owner)! - bytes;
    if (ownerBytes === 0) this.#reservedByOwner.delete(owner);
    else this.#reservedByOwner.set(owner, ownerBytes);
  }
}
