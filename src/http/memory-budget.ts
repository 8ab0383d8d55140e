/** A project, or null for a request without a known token in its head. */
export type Owner = number | null;

/** Memory for the bodies and answers of requests in flight: one limit for all, and half of it for one owner. */
export class MemoryBudget {
  #all = 0;
  readonly #own = new Map<Owner, number>();

  constructor(readonly bound: number) {}

  get all(): number {
    return this.#all;
  }

  /** The most that one owner can reserve while nobody else has reserved anything. */
  get limitPerOwner(): number {
    return this.bound / 2;
  }

  /** Returns false and reserves nothing when that exceeds a limit. */
  reserve(owner: Owner, bytes: number): boolean {
    const own = (this.#own.get(owner) ?? 0) + bytes;
    if (own > this.limitPerOwner || this.#all + bytes > this.bound) return false;
    this.#all += bytes;
    this.#own.set(owner, own);
    return true;
  }

  release(owner: Owner, bytes: number): void {
    if (bytes === 0) return;
    this.#all -= bytes;
    const own = this.#own.get(owner)! - bytes;
    if (own === 0) this.#own.delete(owner);
    else this.#own.set(owner, own);
  }
}
