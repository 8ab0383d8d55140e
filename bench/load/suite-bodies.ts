import { normal, randomOf } from '../random.js';
import { type Connections, check } from './connections.js';
import { commit, creation, deepPath, files, nodeOf, QUEUE, RECORDING, ROUND, SPLIT, splitting } from './messages.js';
import { Template } from './template.js';

/** Requests with a whole suite. Each round is a new build. */

export type Initialized = 'queue' | 'split';

export const initialized = { queue: QUEUE, split: SPLIT } as const;

export function initializing(kind: Initialized, count: number, nodes: number): Template {
  const make = { queue: creation, split: splitting }[kind];
  return new Template({ ...make(kind, ROUND, nodes), ...files(count, deepPath) });
}

/** Recordings of all files, `filesEach` in a request. The times are distributed as in real suites. */
export function recordings(count: number, filesEach: number): Template[] {
  const random = randomOf(count);
  const times = Array.from({ length: count }, (_, file) => ({ path: deepPath(file), time_execution: Math.exp(1.6 * normal(random)) }));
  const nodes = Math.ceil(count / filesEach);
  return Array.from({ length: nodes }, (_, node) => {
    const test_files = times.slice(node * filesEach, (node + 1) * filesEach);
    return new Template({ ...nodeOf('record', ROUND, node, nodes), commit_hash: commit(ROUND), test_files });
  });
}

/** Records all files, so that the server knows their times. */
export async function recordAll(connections: Connections, count: number): Promise<void> {
  for (const template of recordings(count, 5000)) {
    check(await connections.post(RECORDING, template.of(0)), 201);
  }
}
