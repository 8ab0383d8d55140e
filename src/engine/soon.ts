/** A value, or a promise of it. A store in this process answers reads immediately, one on another machine later. */
export type Soon<T> = T | Promise<T>;

/** Calls a function with a value when it is known: at once, unless it is a promise. Requests that wait for nothing need no promises. */
export function whenKnown<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** A value that is known before what it tells of is on disk. Nobody outside this process may learn it earlier. */
export interface Saving<T> {
  value: T;
  /** Resolves when it is on disk; rejects with a 503 when it could not be written. Null: it is on disk. */
  saved: Promise<void> | null;
}

/** Resolves with a value when what it tells of is on disk. */
export async function whenSaved<T>(saving: Soon<Saving<T>>): Promise<T> {
  const { value, saved } = await saving;
  await saved;
  return value;
}
