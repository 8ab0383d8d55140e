import { normal, randomOf } from '../random.js';
import { type Connections, check } from './connections.js';
import { commit, creation, deepPath, files, nodeOf, QUEUE, RECORDING, ROUND, SPLIT, splitting } from './messages.js';
import { Template } from './template.js';

/** Requests that bring a whole suite. Each round is another build. */

export type Initialized = 'queue' | 'split';

export const initialized = { queue: QUEUE, split: SPLIT } as const;

export function initializing(kind: Initialized, count: number, nodes: number): Template {
  const make = { queue: creation, split: splitting }[kind];
  return new Template({ ...make(kind, ROUND, nodes), ...files(count, deepPath) });
}

/** Recordings of all of the files, so many in a request: the times spread as those of real suites. */
export function recordings(count: number, filesEach: number): Template[] {
  const random = randomOf(count);
  const times = Array.from({ length: count }, (_, file) => ({ path: deepPath(file), time_execution: Math.exp(1.6 * normal(random)) }));
  const nodes = Math.ceil(count / filesEach);
  return Array.from({ length: nodes }, (_, node) => {
    const test_files = times.slice(node * filesEach, (node + 1) * filesEach);
    return new Template({ ...nodeOf('record', ROUND, node, nodes), commit_hash: commit(ROUND), test_files });
  });
}

/** From then on the server knows the times of the files. */
export async function recordAll(connections: Connections, count: number): Promise<void> {
  for (const template of recordings(count, 5000)) {
    check(await connections.post(RECORDING, template.of(0)), 201);
  }
}
