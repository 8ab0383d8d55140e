/** A value, or a promise of it. A store in this process answers reads immediately, one on another machine later. */
export type Soon<T> = T | Promise<T>;

/** Calls a function with a value when it is known: at once, unless it is a promise. Requests that wait for nothing need no promises. */
export function whenKnown<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Calls a function, and another one with the error when it throws or its promise rejects. */
export function orElse<T>(make: () => Soon<T>, onError: (error: unknown) => T): Soon<T> {
  try {
    const made = make();
    return made instanceof Promise ? made.catch(onError) : made;
  } catch (error) {
    return onError(error);
  }
}

/** A value, and the promise that it is on disk. Nobody outside this process may learn it before. */
export interface Saving<T> {
  value: T;
  /** Rejects with a 503 when it could not be written. Null: it is on disk. */
  saved: Promise<void> | null;
}

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
