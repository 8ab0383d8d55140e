import { limits } from '../../src/protocol/limits.js';
import { CUT_CHARACTERS_PER_QUEUE } from '../../src/server/engine/suites/cut-suite.js';
import { HEARTBEAT, QUEUE, RECORDING, SPLIT, TEST_QUEUE } from '../../test/testbed/node-process.js';
import type { Connections } from './connections.js';
import { expectAnswer } from './connections.js';
import { longTestPath, nodeFields, ROUND, testFiles } from './messages.js';
import { Template } from './template.js';

/** The largest requests that the server accepts from one token: of each POST those that may take longest. Each round is another build. */

export interface LargestRequest {
  about: string;
  path: string;
  status: number;
  /** Headers besides those of a client. */
  headers?: Record<string, string>;
  /** Sends what the request needs. */
  prepare?: (connections: Connections) => Promise<void>;
  body: () => object;
}

const CASES = '/v2/test_cases';
const FILES = limits.testFilesPerRequest;
const NODES = 64;

const connect = { can_initialize_queue: true, attempt_connect_to_queue: false };
const later = { can_initialize_queue: false, attempt_connect_to_queue: false };
const node = (build: string) => nodeFields('largest', build, 0, NODES);
const newPath = (file: number) => `${ROUND}${longTestPath(file)}`;
const timed = (pathOf: (file: number) => string) =>
  testFiles(FILES, pathOf).test_files.map((file, i) => ({ ...file, time_execution: 1 + (i % 100) / 8 }));
const testQueue = (build: string) => ({ ...node(build), test_queue_id: build, node_uuid: 'largest', batch_index: 0 });

/** A file whose cases have as many characters as may be told of one. */
const told = (path: string, count: number) => ({
  path,
  seconds: 900,
  cases: Array.from({ length: count }, (_, i) => ({
    name: `case ${i} `.padEnd(Math.floor(limits.caseCharactersPerFile / count), 'x'),
    seconds: 900 / count,
    outcome: 'passed',
  })),
});
/** Long files, with the cases that a queue may have in pieces. */
const cutFiles = Array.from({ length: Math.floor(CUT_CHARACTERS_PER_QUEUE / limits.caseCharactersPerFile) }, (_, i) => `long_${i}_spec.rb`);

/** Has a queue of which the first batch is a piece of a long file, among as many pieces as a queue may have. */
async function prepareCuts(connections: Connections): Promise<void> {
  const build = node('cut');
  const paths = [...cutFiles, ...Array.from({ length: 100 }, (_, i) => longTestPath(i))];
  const test_files = paths.map((path, i) => ({ path, time_execution: i < cutFiles.length ? 900 : 1 }));
  const send = async (path: string, body: object, status: number) =>
    expectAnswer(await connections.post(path, JSON.stringify(body)), status);
  await send(RECORDING, { ...build, test_files }, 201);
  for (const path of cutFiles) await send(CASES, { ...build, ci_build_id: 'cut', runner: 'pytest', files: [told(path, 5000)] }, 200);
  const answer = await connections.post(TEST_QUEUE, JSON.stringify({ ...testQueue('cut'), ...connect, paths, pieces: 'pytest' }));
  expectAnswer(answer, 200, '"pieces"');
}

export const largestRequests: Readonly<Record<string, LargestRequest>> = {
  'recording, known': {
    about: `a run of ${FILES} files`,
    path: RECORDING,
    status: 201,
    body: () => ({ ...node(ROUND), test_files: timed(longTestPath) }),
  },
  'recording, new': {
    about: `a run of ${FILES} files of which none was known`,
    path: RECORDING,
    status: 201,
    body: () => ({ ...node(ROUND), test_files: timed(newPath) }),
  },
  split: {
    about: `a split of ${FILES} new files`,
    path: SPLIT,
    status: 200,
    body: () => ({ ...node(ROUND), ci_build_id: ROUND, cache_read_attempt: false, ...testFiles(FILES, newPath) }),
  },
  queue: {
    about: `a queue of ${FILES} new files`,
    path: QUEUE,
    status: 200,
    body: () => ({ ...node(ROUND), ...connect, node_build_id: ROUND, ...testFiles(FILES, newPath) }),
  },
  'test queue': {
    about: `the same with sizes of the files`,
    path: TEST_QUEUE,
    status: 200,
    body: () => ({
      ...testQueue(ROUND),
      ...connect,
      paths: testFiles(FILES, newPath).test_files.map(({ path }) => path),
      sizes: Array.from({ length: FILES }, (_, i) => i),
    }),
  },
  failures: {
    about: `a pull that reports ${FILES} failed test cases`,
    path: TEST_QUEUE,
    status: 200,
    prepare: async connections => {
      const body = { ...testQueue('failures'), ...connect, paths: Array.from({ length: 1000 }, (_, i) => longTestPath(i)) };
      expectAnswer(await connections.post(TEST_QUEUE, JSON.stringify(body)), 200);
    },
    body: () => ({
      ...testQueue('failures'),
      ...later,
      batch_index: 1,
      batch_id: 1,
      failed_paths: Array.from({ length: FILES }, (_, i) => `${longTestPath(0)}:${i}`),
    }),
  },
  piece: {
    about: 'a pull that gets a piece of a queue with as many pieces as may be',
    path: TEST_QUEUE,
    status: 200,
    prepare: prepareCuts,
    body: () => ({ ...testQueue('cut'), ...connect, paths: undefined, attempt_connect_to_queue: true, pieces: 'pytest' }),
  },
  refused: {
    about: 'a body of 31 MiB, which is read and refused',
    path: HEARTBEAT,
    status: 413,
    body: () => ({ unknown: 'x'.repeat(31 * 2 ** 20) }),
  },
  cancel: {
    about: 'a message with 250 KiB that nobody reads',
    path: '/v2/queues/cancel',
    status: 200,
    body: () => ({ ...node(ROUND), test_queue_id: ROUND, node_uuid: 'other', unknown: 'x'.repeat(250 * 2 ** 10) }),
  },
  cases: {
    about: 'a node that tells 1 MiB of cases, of files that the next one tells, too',
    path: CASES,
    status: 200,
    body: () => ({
      ...node(ROUND),
      ci_build_id: ROUND,
      runner: 'pytest',
      files: Array.from({ length: 7 }, (_, i) => told(`${i}_spec.rb`, 200)),
    }),
  },
  // Of 200,000 files it takes the thread for people a minute.
  plan: {
    about: '1,000 files with 64 numbers of nodes',
    path: '/v1/plan',
    status: 200,
    body: () => ({ branch: 'main', nodes: '937..1000', ...testFiles(1000, newPath) }),
  },
  'sign-in': {
    about: 'a wrong password in 64 KiB',
    path: '/dashboard/sign_in',
    status: 0,
    headers: { 'Ballast-Dashboard': '1', 'Sec-Fetch-Site': 'same-origin' },
    body: () => ({ password: 'x'.repeat(1024), unknown: 'x'.repeat(63_000) }),
  },
};

export function templateOf({ body }: LargestRequest): Template {
  return new Template(JSON.stringify(body()));
}
