import { QUEUE, RECORDING, SPLIT } from '../../test/testbed/node-process.js';
import { normal, seededRandom } from '../../test/testbed/random.js';
import { type Connections, expectAnswer } from './connections.js';
import { commitHash, createQueueBody, longTestPath, nodeFields, ROUND, splitBody, testFiles } from './messages.js';
import { Template } from './template.js';

/** Requests with a whole suite. Each round is a new build. */

export type PlanKind = 'queue' | 'split';

export const planPaths = { queue: QUEUE, split: SPLIT } as const;

/** `same`: each round has the same list. `changed`: some of its files, spread evenly, have other names in each round. `new`: all have. */
export type ListKind = 'same' | 'changed' | 'new';

const CHANGED_FILES = 10;

export function initializeTemplate(kind: PlanKind, count: number, nodes: number, list: ListKind): Template {
  const make = { queue: createQueueBody, split: splitBody }[kind];
  const step = Math.ceil(count / CHANGED_FILES);
  const isRenamed = (file: number) => list === 'new' || (list === 'changed' && file % step === step >> 1);
  const pathOf = (file: number) => longTestPath(file) + (isRenamed(file) ? ROUND : '');
  return new Template(JSON.stringify({ ...make(kind, ROUND, nodes), ...testFiles(count, pathOf) }));
}

/** Recordings of all files, `filesEach` in a request. The times are distributed as in real suites. */
export function recordingTemplates(count: number, filesEach: number): Template[] {
  const random = seededRandom(count);
  const times = Array.from({ length: count }, (_, file) => ({ path: longTestPath(file), time_execution: Math.exp(1.6 * normal(random)) }));
  const nodes = Math.ceil(count / filesEach);
  return Array.from({ length: nodes }, (_, node) => {
    const test_files = times.slice(node * filesEach, (node + 1) * filesEach);
    return new Template(JSON.stringify({ ...nodeFields('record', ROUND, node, nodes), commit_hash: commitHash(ROUND), test_files }));
  });
}

/** Files that a node of another build records while a build begins. */
const FILES_OF_A_NODE = 20;

/** Records some of the files in a build of its own. */
export async function recordSome(connections: Connections, count: number, round: number): Promise<void> {
  const first = (FILES_OF_A_NODE * round) % (count - FILES_OF_A_NODE);
  const test_files = Array.from({ length: FILES_OF_A_NODE }, (_, i) => ({ path: longTestPath(first + i), time_execution: 1 + (i % 7) }));
  const node = nodeFields('record some', round, 0, 1);
  expectAnswer(await connections.post(RECORDING, JSON.stringify({ ...node, test_files })), 201);
}

/** As in a project after its first builds. After a single one, the estimates have all digits of the recorded times. */
const BUILDS_RECORDED = 2;

/** Records all files, so that the server knows their times. */
export async function recordAll(connections: Connections, count: number): Promise<void> {
  for (let build = 0; build < BUILDS_RECORDED; build++) {
    for (const template of recordingTemplates(count, 5000)) {
      expectAnswer(await connections.post(RECORDING, template.body(build)), 201);
    }
  }
}
