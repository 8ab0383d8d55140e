/** Who holds: a project; null: whoever sent no token in the head, or one that is not known. */
export type Holder = number | null;

/** The bytes of bodies and answers that a server holds at once: there is a bound for all, and half of it for one holder. */
export class HeldBytes {
  #all = 0;
  readonly #own = new Map<Holder, number>();

  constructor(readonly bound: number) {}

  get all(): number {
    return this.#all;
  }

  /** The most that one holder gets, when nobody else holds anything. */
  get mostOfOne(): number {
    return this.bound / 2;
  }

  /** False, and nothing is taken, when that is too much. */
  take(holder: Holder, bytes: number): boolean {
    const own = (this.#own.get(holder) ?? 0) + bytes;
    if (own > this.mostOfOne || this.#all + bytes > this.bound) return false;
    this.#all += bytes;
    this.#own.set(holder, own);
    return true;
  }

  giveBack(holder: Holder, bytes: number): void {
    if (bytes === 0) return;
    this.#all -= bytes;
    const own = this.#own.get(holder)! - bytes;
    if (own === 0) this.#own.delete(holder);
    else this.#own.set(holder, own);
  }
}
