/** The project that memory is counted for; null for requests whose head has no known token. */
export type Owner = number | null;

/** Limits the memory for bodies and answers of requests in flight: in all, and to half of that for one owner. */
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
