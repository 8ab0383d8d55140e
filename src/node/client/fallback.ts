import { allOf, pluralize } from '../../base/plural.js';
import type { ServerUnreachable } from './api.js';

/** Ways in which users ask for the fallback, in words: a flag or a variable. */
export interface Wish {
  name: string;
  asVerb: string;
}

export const flagWish: Wish = { name: '--fallback', asVerb: 'give --fallback' };

/**
 * Returns the files that a node runs without the server: all that it has not run itself. Other nodes may run them, too, but the node cannot
 * know which. If each node chose a part by its index, files would be lost as soon as one other node reached the server.
 */
export function fallbackFiles(all: readonly string[], ran: ReadonlySet<string>): string[] {
  return all.filter(path => !ran.has(path));
}

/** The warning of a node that continues without the server. */
export function fallbackWarning({ message }: ServerUnreachable, count: number, total: number, { name } = flagWish): string[] {
  const files = count === total ? allOf(total, 'test file') : `the ${count} of ${pluralize(total, 'test file')} that it has not run`;
  return [
    `WARNING: ${message}.`,
    `WARNING: ${name}: this node runs ${files}, because it cannot know what other nodes run. They may run the same files, so the build takes longer.`,
  ];
}

/**
 * The error of a node that ends without the server.
 * @param undone what the node did not do
 */
export function noFallbackMessage({ message }: ServerUnreachable, undone: string, { asVerb } = flagWish): string {
  return `${message}; ${undone}. Run this node again when the server answers, or ${asVerb} to run every test file that it has not run`;
}
