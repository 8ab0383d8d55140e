import { fileOf } from '../planning/estimating/test-case.js';
import { counted, named } from '../terminal.js';
import { Refused } from './api.js';

/** The server's split or queue was made of another list than this node's: some test files would never run. */
export class ListDiffers extends Error {
  readonly exitCode = 2;
}

/** Throws ListDiffers when a path was handed out that is neither in the node's list nor a test case of a file in it. */
export function assertListed(what: 'split' | 'queue', handedOut: readonly string[], all: readonly string[]): void {
  const listed = new Set(all);
  const foreign = handedOut.filter(path => !listed.has(path) && !listed.has(fileOf(path) ?? path));
  if (foreign.length === 0) return;
  throw new ListDiffers(
    `the ${what} of this CI run has ${counted(foreign.length, 'test file')} that this node does not list (${named(foreign)}); this node lists ${counted(all.length, 'test file')} (${named(all)}): ` +
      'give all nodes of a suite the same list, and each suite a project of its own',
  );
}

/** Sends the list. When another node has just sent another list, it asks again: the second answer names the difference. */
export async function withNames<T>(initialise: () => Promise<T>): Promise<T> {
  try {
    return await initialise();
  } catch (error) {
    if (error instanceof ListDiffers) return initialise();
    throw error;
  }
}

/** Sends a request that names the node's list. Throws ListDiffers when the server has another one. */
export async function withSameList<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof Refused && error.status === 409) throw new ListDiffers(error.message, { cause: error });
    throw error;
  }
}
