import { requestJson } from '../../test/testbed/client.js';
import { inParallel } from '../../test/testbed/in-parallel.js';
import { HEARTBEAT, QUEUE, RECORDING, SPLIT, TEST_QUEUE } from '../../test/testbed/node-process.js';
import type { Server } from '../../test/testbed/server.js';
import {
  commitHash,
  createQueueBody,
  FILES_IN_ANSWER,
  NODES,
  nodeFields,
  pullBody,
  ROUND,
  splitBody,
  testFiles,
  testPath,
} from './messages.js';

/** One kind of request under load. */
export interface Trial {
  about: string;
  path: string;
  /** The status and a part of the body of every correct answer. */
  status: 200 | 201;
  expected: string;
  /** Redis does the same work, where it is installed. */
  hasPeer?: true;
  /** The trial whose steps are a part of the steps of this one; without it, those of the bare handler are. */
  extends?: string;
  /**
   * Prepares the server for a number of requests. Returns the bodies to send in rotation; `ROUND` in them is replaced
   * by the number of the round, with as many digits.
   */
  setUp(server: Server, requests: number): Promise<string[]>;
}

const nodes = [...Array(NODES).keys()];

export const trials = {
  connect: {
    about: 'the first request of a node while there is no queue: only reads, the cheapest POST',
    path: QUEUE,
    status: 200,
    expected: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
    async setUp() {
      const flags = { can_initialize_queue: true, attempt_connect_to_queue: true };
      return nodes.map(node => JSON.stringify({ ...pullBody('connect', 0, node), ...flags }));
    },
  },
  ended: {
    about: 'a pull from an ended queue: an answer without files',
    path: QUEUE,
    status: 200,
    expected: '"test_files":[]',
    extends: 'connect',
    async setUp(server) {
      const queues = [...Array(20).keys()];
      await inParallel(16, queues, queue => requestJson(server.url, QUEUE, { ...createQueueBody('ended', queue), ...testFiles(1) }));
      return nodes.flatMap(node => queues.map(queue => JSON.stringify(pullBody('ended', queue, node))));
    },
  },
  pulls: {
    about: 'the next batch of a queue of 1,000 files for 8 nodes, written to the journal',
    path: QUEUE,
    status: 200,
    // The answer at the end of a queue is cheaper: it fails the trial.
    expected: FILES_IN_ANSWER,
    hasPeer: true,
    extends: 'ended',
    async setUp(server, requests) {
      // Most files are unknown, and are taken for as long as these: beside that, a turn of the rotation is no time. Queues that could
      // measure it would make their batches larger.
      const known = [...Array(100).keys()].map(file => ({ path: testPath(file), time_execution: 600 }));
      await requestJson(server.url, RECORDING, { ...nodeFields('known', 0, 0), test_files: known });
      // Such a queue lasts about 210 pulls and takes 100 KB of the server's queue cache. The queues fill the cache
      // in 15 seconds of load; after that the server reads queues from disk.
      const queues = [...Array(Math.ceil(requests / 200)).keys()];
      await inParallel(16, queues, queue => requestJson(server.url, QUEUE, { ...createQueueBody('pulls', queue), ...testFiles(1000) }));
      return nodes.flatMap(node => queues.map(queue => JSON.stringify(pullBody('pulls', queue, node))));
    },
  },
  heartbeats: {
    about: 'a node that has a batch says that it lives: nothing is written',
    path: HEARTBEAT,
    status: 200,
    expected: '"lease_ends_in":',
    extends: 'connect',
    async setUp(server) {
      const queues = [...Array(20).keys()];
      const process = (queue: number, node: number) => ({
        ...nodeFields('heartbeats', queue, node),
        test_queue_id: String(queue),
        node_uuid: `00000000-0000-4000-8000-${String(node).padStart(12, '0')}`,
      });
      const paths = [...Array(1000).keys()].map(testPath);
      await inParallel(16, queues, async queue => {
        for (const node of nodes) {
          const connects = { can_initialize_queue: true, attempt_connect_to_queue: node > 0, batch_index: 0, sends_heartbeats: true };
          await requestJson(server.url, TEST_QUEUE, { ...process(queue, node), ...connects, ...(node === 0 && { paths }) });
        }
      });
      return nodes.flatMap(node => queues.map(queue => JSON.stringify(process(queue, node))));
    },
  },
  splits: {
    about: 'regular mode with a cached split: an answer of 100 files',
    path: SPLIT,
    status: 200,
    expected: FILES_IN_ANSWER,
    extends: 'connect',
    async setUp(server, requests) {
      const builds = [...Array(Math.min(50, Math.ceil(requests / 100))).keys()];
      await inParallel(16, builds, build => requestJson(server.url, SPLIT, { ...splitBody('split', build), ...testFiles(100 * NODES) }));
      const body = (build: number, node_index: number) =>
        JSON.stringify({ ...splitBody('split', build), cache_read_attempt: true, node_index });
      return nodes.flatMap(node => builds.map(build => body(build, node)));
    },
  },
  recording: {
    about: 'times of 20 files, on disk before the 201; 8 nodes record each build',
    path: RECORDING,
    status: 201,
    expected: '',
    extends: 'connect',
    async setUp() {
      // The same files in every build, as in a real project.
      const test_files = (node: number) =>
        [...Array(20).keys()].map(i => ({ path: testPath(20 * node + i), time_execution: (i + 1) * 1.2345 }));
      return nodes.map(node =>
        JSON.stringify({ ...nodeFields('record', 0, node), commit_hash: commitHash(ROUND), test_files: test_files(node) }),
      );
    },
  },
} satisfies Record<string, Trial>;
