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

/** Resolves with a value when it is on disk. */
export async function whenSaved<T>(saving: Soon<Saving<T>>): Promise<T> {
  const { value, saved } = await saving;
  await saved;
  return value;
}
