/**
 * Work that is done again and again, once at a time. Whoever asks while it is being done shares one further time with all
 * others who ask: that sees what was there when they asked.
 */
export class Repeated {
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(readonly work: () => Promise<void>) {}

  /** The last time, which may be under way. */
  get last(): Promise<void> {
    return this.#last;
  }

  again(): Promise<void> {
    return (this.#next ??= this.#last.catch(() => {}).then(() => {
      this.#next = null;
      return (this.#last = this.work());
    }));
  }
}
