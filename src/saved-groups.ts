/** Groups of what waits for the same write to the disk. The promise of the write has one callback for a group, not one for each member. */
export class SavedGroups<T> {
  #saved: Promise<void> | null = null;
  #group: T[] = [];

  constructor(
    /** Called with each of a group, in the order in which they were added, when its write is on disk. */
    readonly onSaved: (one: T, saved: Promise<void>) => void,
    readonly onFailed: (one: T, error: unknown) => void,
  ) {}

  /** Adds to the group that waits for a promise. Only the last promise has a group to add to; any other begins a new one. */
  add(one: T, saved: Promise<void>): void {
    if (saved !== this.#saved) this.#begin(saved);
    this.#group.push(one);
  }

  #begin(saved: Promise<void>): void {
    const group: T[] = [];
    this.#saved = saved;
    this.#group = group;
    const end = (call: (one: T) => void) => {
      // What comes after the end begins a new group.
      if (this.#saved === saved) this.#saved = null;
      group.forEach(call);
    };
    saved.then(
      () => end(one => this.onSaved(one, saved)),
      (error: unknown) => end(one => this.onFailed(one, error)),
    );
  }
}
