/** A kind of work, of which a limited number runs at once. */
export interface Lane {
  readonly atOnce: number;
}

/** The waiting work of a lane by line, of which the first is next. */
interface LaneState {
  running: number;
  readonly lines: Map<unknown, (() => void)[]>;
}

/**
 * Limits how many pieces of work run at a time. Lanes take turns, and in each lane its lines do, so that neither much work of one kind nor
 * that of one project delays the rest.
 */
export class Lanes {
  /** The first lane is next. */
  readonly #lanes = new Map<Lane, LaneState>();
  #waiting = 0;
  #running = 0;

  constructor(readonly atOnce: number) {}

  /** The number of waiting pieces of work. */
  get waiting(): number {
    return this.#waiting;
  }

  get running(): number {
    return this.#running;
  }

  waitingIn(lane: Lane, line: unknown): number {
    return this.#lanes.get(lane)?.lines.get(line)?.length ?? 0;
  }

  /** Runs work when it is the turn of its lane and its line. */
  run<T>(lane: Lane, line: unknown, work: () => Promise<T>): Promise<T> {
    let state = this.#lanes.get(lane);
    if (!state) this.#lanes.set(lane, (state = { running: 0, lines: new Map() }));
    const { lines } = state;
    return new Promise((resolve, reject) => {
      const begin = () => {
        state.running += 1;
        this.#running += 1;
        work()
          .then(resolve, reject)
          .finally(() => {
            state.running -= 1;
            this.#running -= 1;
            this.#beginNext();
          });
      };
      const own = lines.get(line);
      if (own) own.push(begin);
      else lines.set(line, [begin]);
      this.#waiting += 1;
      this.#beginNext();
    });
  }

  #beginNext(): void {
    for (const [lane, state] of this.#lanes) {
      if (this.#running >= this.atOnce) return;
      const [first] = state.lines;
      if (!first || state.running >= lane.atOnce) continue;
      const [line, own] = first;
      // The lane and the line move to the end.
      this.#lanes.delete(lane);
      this.#lanes.set(lane, state);
      state.lines.delete(line);
      const begin = own.shift()!;
      if (own.length > 0) state.lines.set(line, own);
      this.#waiting -= 1;
      begin();
    }
  }
}
