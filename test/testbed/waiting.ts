import type { Saving, Soon } from '../../src/base/soon.js';
import type { Caller } from '../../src/server/engine/caller.js';

/** A client that sends a request once, and waits for the answer. */
export const waitingCaller: Caller = { isRetry: false, hasLeft: () => false };

/** Resolves with a value when it is on disk. */
export async function whenSaved<T>(saving: Soon<Saving<T>>): Promise<T> {
  const { value, saved } = await saving;
  await saved;
  return value;
}
