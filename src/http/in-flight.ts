/** Counts the requests under way, so that a server can stop between them. */
export class InFlight {
  draining = false;
  #receiving = 0;
  #answering = 0;
  #changed = () => {};

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
    this.#changed();
  }

  /** Resolves when all is answered: requests still being sent get the shorter time, answers the longer. */
  async drain(seconds: { receiving: number; answering: number }): Promise<void> {
    this.draining = true;
    await this.#until(() => this.count === 0, seconds.receiving);
    await this.#until(() => this.#answering === 0, seconds.answering - seconds.receiving);
  }

  async #until(done: () => boolean, seconds: number): Promise<void> {
    if (done()) return;
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, seconds * 1000);
      this.#changed = () => {
        if (!done()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
