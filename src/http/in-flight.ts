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
