import { counted } from '../terminal.js';
import type { Unreachable } from './api.js';

/**
 * The files that a node runs without the server: all that it has not run itself. Other nodes may run them, too, but the node cannot know
 * which. If it ran only a part, by name, some files would not run at all as soon as one other node reached the server.
 */
export function filesOfFallback(all: readonly string[], ran: ReadonlySet<string>): string[] {
  return all.filter(path => !ran.has(path));
}

/** The warning of a node that goes on without the server. */
export function fallbackWarning({ message }: Unreachable, count: number, total: number): string[] {
  const files =
    count === total ? `all ${counted(total, 'test file')}` : `the ${count} of ${counted(total, 'test file')} that it has not run`;
  return [
    `WARNING: ${message}.`,
    `WARNING: --fallback: this node runs ${files}, because it cannot know what other nodes run. They may run the same files, so the build takes longer.`,
  ];
}

/** The error of a node that ends without the server. @param undone what it did not do */
export function noFallback({ message }: Unreachable, undone: string): string {
  return `${message}; ${undone}. Run this node again when the server answers, or give --fallback to run every test file that it has not run`;
}
