/**
 * Work that is done again and again, once at a time. Whoever asks while it is being done shares one further time with all
 * others who ask: that sees what was there when they asked.
 */
export class CoalescedTask {
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isEnded = false;

  constructor(readonly work: () => Promise<void>) {}

  /** The last time, which may be under way. */
  get last(): Promise<void> {
    return this.#last;
  }

  run(): Promise<void> {
    return (this.#next ??= this.#last
      .catch(() => {})
      .then(() => {
        this.#next = null;
        if (this.#timer) clearTimeout(this.#timer);
        this.#timer = null;
        return (this.#last = this.work());
      }));
  }

  /** Again within so long, unless it ends before; nobody is told. */
  runWithin(milliseconds: number): void {
    if (this.#isEnded) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.run().catch(() => {});
    }, milliseconds).unref();
  }

  /** Only who asks for it still gets it done. */
  stop(): void {
    this.#isEnded = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
