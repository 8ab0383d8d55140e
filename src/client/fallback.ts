import { counted } from '../terminal.js';
import type { Unreachable } from './api.js';

/**
 * What a node runs without the server: every file that it has not run itself. Others may run them, too, but a node cannot know which: a part
 * by name, say, would leave files to nobody as soon as one other node reaches the server.
 */
export function filesOfFallback(all: readonly string[], ran: ReadonlySet<string>): string[] {
  return all.filter(path => !ran.has(path));
}

/** Said before a node goes on without the server. */
export function fallbackWarning({ message }: Unreachable, count: number, total: number): string[] {
  const files = count === total ? `all ${counted(total, 'test file')}` : `the ${count} of ${counted(total, 'test file')} that it has not run`;
  return [
    `WARNING: ${message}.`,
    `WARNING: --fallback: this node runs ${files}, because it cannot know what other nodes run. They may run the same files, so the build takes longer.`,
  ];
}

/** Why a node without the server ends. @param undone what it did not do */
export function noFallback({ message }: Unreachable, undone: string): string {
  return `${message}; ${undone}. Run this node again when the server answers, or give --fallback: then it runs every test file that it has not run`;
}
