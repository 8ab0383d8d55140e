/**
 * Repeated work that has one run under way at a time. All calls made during a run share the next run, which sees the state at the
 * time of each call.
 */
export class CoalescedTask {
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isEnded = false;

  constructor(readonly work: () => Promise<void>) {}

  /** The last run, which may be under way. */
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

  /** Starts a run within this time, unless the task is stopped before. Its errors are ignored. */
  runWithin(milliseconds: number): void {
    if (this.#isEnded) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.run().catch(() => {});
    }, milliseconds).unref();
  }

  /** Cancels runs that were to start later. `run` still works. */
  stop(): void {
    this.#isEnded = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
