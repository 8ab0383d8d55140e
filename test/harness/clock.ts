/** A clock that advances only when told to. */
export class Clock {
  constructor(public millis = Date.UTC(2026, 0, 1)) {}
  readonly now = () => this.millis;
  advance({ days = 0, seconds = 0, milliseconds = 0 }: { days?: number; seconds?: number; milliseconds?: number }) {
    this.millis += days * 86_400_000 + seconds * 1000 + milliseconds;
  }
}
