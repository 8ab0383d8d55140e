import { SavedGroups } from '../soon.js';

/** An answer to write. */
interface Outgoing {
  write(): void;
  /** Is called instead when what the answer tells of could not be saved. */
  fail(error: unknown): void;
}

/**
 * Collects the answers of one turn of the event loop and writes them at its end, one after the other. Otherwise each of them would wake a
 * client that waits, which is the dearest part of a write. A client on the same machine, a proxy or a gateway that still reads the last
 * answer need not be woken for the next. Answers that wait for the same write to the disk are written together after it.
 */
export class Outbox {
  #outgoing: Outgoing[] = [];
  readonly #saving = new SavedGroups<Outgoing>(
    one => one.write(),
    (one, error) => one.fail(error),
  );

  /** @param saved resolves when the answer may be written; null: it may be */
  add(outgoing: Outgoing, saved: Promise<void> | null): void {
    if (saved) this.#saving.add(outgoing, saved);
    else if (this.#outgoing.push(outgoing) === 1) setImmediate(this.#flush);
  }

  readonly #flush = () => {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    for (const one of outgoing) one.write();
  };
}
