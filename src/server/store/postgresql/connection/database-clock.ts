/**
 * The clock of a database, as one process knows it: measured now and then, and advanced by the time that passes here. It never goes back. If
 * the clock of the database is set forward, this one follows at once. If it is set back, or another server with an earlier clock takes over,
 * this one runs at half speed until both are the same: it neither repeats a time nor stands still.
 */
export class DatabaseClock {
  /** The clock of the database minus the uptime; null: it was never measured. */
  #offset: number | null = null;
  #reached = Number.NEGATIVE_INFINITY;
  #reachedAt = 0;

  /** @param uptime monotonic milliseconds since any moment */
  constructor(readonly uptime: () => number = () => performance.now()) {}

  /**
   * Notes what the clock of the database showed at some moment between two times of the uptime. Half of the time between these is the error of
   * the first measurement. A later one changes the offset only as far as it proves that wrong, so an answer that was slow changes nothing.
   *
   * @param time milliseconds since 1970
   */
  measured(time: number, asked: number, answered: number): void {
    const [least, most] = [time - answered, time - asked];
    this.#offset = this.#offset === null ? (least + most) / 2 : Math.min(most, Math.max(least, this.#offset));
  }

  /** Whole milliseconds since 1970. Before the first measurement: by the clock of this machine. */
  now(): number {
    const at = this.uptime();
    const time = this.#offset === null ? Date.now() : at + this.#offset;
    this.#reached = Math.max(time, this.#reached + (at - this.#reachedAt) / 2);
    this.#reachedAt = at;
    return Math.floor(this.#reached);
  }

  /** The seconds by which the clock of the database is ahead of that of this machine. */
  ahead(): number {
    return this.#offset === null ? 0 : (this.uptime() + this.#offset - Date.now()) / 1000;
  }
}
