/** Something to write at the end of a turn. */
interface Outgoing {
  write(): void;
}

/**
 * Collects the answers of one turn of the event loop and writes them at its end, one after the other. Otherwise each of them would wake a
 * client that waits, which is the dearest part of a write. A client on the same machine, a proxy or a gateway that still reads the last
 * answer need not be woken for the next.
 */
export class Outbox {
  #outgoing: Outgoing[] = [];

  add(outgoing: Outgoing): void {
    if (this.#outgoing.push(outgoing) === 1) setImmediate(this.#flush);
  }

  readonly #flush = () => {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    for (const one of outgoing) one.write();
  };
}
