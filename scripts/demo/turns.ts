/** Has players go on in the order of their times, one at a time. */
export class Turns {
  readonly #waiting = new Map<number, { at: number; go: () => void }>();

  /** @param players how many there are, by numbers from 0 */
  constructor(private players: number) {}

  /** Resolves when no other player can have an earlier time. Of equal times, the lower number is first. */
  take(player: number, at: number): Promise<void> {
    return new Promise(go => {
      this.#waiting.set(player, { at, go });
      this.#next();
    });
  }

  /** Notes that a player, whose turn it is, has ended. */
  end(): void {
    this.players -= 1;
    this.#next();
  }

  #next(): void {
    // The one whose turn it is does not wait.
    if (this.#waiting.size < this.players) return;
    const [first] = [...this.#waiting].sort(([a, { at }], [b, other]) => at - other.at || a - b);
    if (!first) return;
    this.#waiting.delete(first[0]);
    first[1].go();
  }
}
