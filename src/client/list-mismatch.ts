import { fileOf } from '../planning/estimating/test-case.js';
import { abbreviate, pluralize } from '../terminal.js';
import { RequestRejected } from './api.js';

/** The server's split or queue was made of another list than this node's: some test files would never run. */
export class ListMismatch extends Error {
  readonly exitCode = 2;
}

/** Throws ListDiffers when a path was handed out that is neither in the node's list nor a test case of a file in it. */
export function assertListed(what: 'split' | 'queue', handedOut: readonly string[], all: readonly string[]): void {
  const listed = new Set(all);
  const foreign = handedOut.filter(path => !listed.has(path) && !listed.has(fileOf(path) ?? path));
  if (foreign.length === 0) return;
  throw new ListMismatch(
    `the ${what} of this CI run has ${pluralize(foreign.length, 'test file')} that this node does not list (${abbreviate(foreign)}); this node lists ${pluralize(all.length, 'test file')} (${abbreviate(all)}): ` +
      'give all nodes of a suite the same list, and each suite a project of its own',
  );
}

/** Sends the list. When another node has just sent another list, it asks again: the second answer names the difference. */
export async function retryOnMismatch<T>(initialise: () => Promise<T>): Promise<T> {
  try {
    return await initialise();
  } catch (error) {
    if (error instanceof ListMismatch) return initialise();
    throw error;
  }
}

/** Sends a request that names the node's list. Throws ListDiffers when the server has another one. */
export async function detectMismatch<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof RequestRejected && error.status === 409) throw new ListMismatch(error.message, { cause: error });
    throw error;
  }
}
