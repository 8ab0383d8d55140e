import { pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import { fileOf } from '../../protocol/test-case.js';
import { RequestRejected } from './api.js';

/** The split or queue was made from another list of test files than this node has. Some test files would never run. */
export class ListMismatch extends Error {
  readonly exitCode = 2;
}

/** Throws ListMismatch if the server handed out a path that is neither in the node's list nor a test case of a file in it. */
export function assertListed(what: 'split' | 'queue', handedOut: readonly string[], all: readonly string[]): void {
  const listed = new Set(all);
  const unlisted = handedOut.filter(path => !listed.has(path) && !listed.has(fileOf(path) ?? path));
  if (unlisted.length === 0) return;
  throw new ListMismatch(
    `the ${what} of this CI run has ${pluralize(unlisted.length, 'test file')} that this node does not list (${abbreviate(unlisted)}); this node lists ${pluralize(all.length, 'test file')} (${abbreviate(all)}): ` +
      'give all nodes of a suite the same list, and each suite a project of its own',
  );
}

/** Sends the list. If another node has just sent another list, sends it again: the second answer names the difference. */
export async function retryOnMismatch<T>(initialise: () => Promise<T>): Promise<T> {
  try {
    return await initialise();
  } catch (error) {
    if (error instanceof ListMismatch) return initialise();
    throw error;
  }
}

/** Sends a request with the digest of the node's list. Throws ListMismatch if the server has another list. */
export async function detectMismatch<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof RequestRejected && error.status === 409) throw new ListMismatch(error.message, { cause: error });
    throw error;
  }
}
