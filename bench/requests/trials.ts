import type { Server } from './processes.js';

/** One kind of request under load. */
export interface Trial {
  about: string;
  path: string;
  /** Of every right answer: its status, and a part of its body. */
  status: 200 | 201;
  expected: string;
  /**
   * Prepares the server for so many requests and returns the bodies to send, in turn and over again: `ROUND` in
   * them is replaced by the number of the turn, in as many digits.
   */
  setUp(server: Server, requests: number): Promise<string[]>;
}

export const ROUND = '[round-----]';

const NODES = 8;
const nodes = [...Array(NODES).keys()];

const QUEUE = '/v1/queues/queue';
const SPLIT = '/v1/build_distributions/subset';

export const trials = {
  pulls: {
    about: 'the third request: the next batch of a queue (1,000 files, 8 nodes), journaled',
    path: QUEUE,
    status: 200,
    // The end of a queue would be cheaper: it fails the trial.
    expected: '"test_files":[{',
    async setUp(server, requests) {
      // Such a queue lasts about 220 pulls and takes 100 KB of the server's queue cache, which so many of them
      // fill in 15 seconds of load: from there on queues are read back from disk.
      const queues = [...Array(Math.ceil(requests / 200)).keys()];
      await inParallel(queues, queue => server.post(QUEUE, { ...creation('pulls', queue), ...files(1000) }));
      return nodes.flatMap(node => queues.map(queue => JSON.stringify(pull('pulls', queue, node))));
    },
  },
  ended: {
    about: 'a pull of a queue that has ended: nothing to hand out',
    path: QUEUE,
    status: 200,
    expected: '"test_files":[]',
    async setUp(server) {
      const queues = [...Array(20).keys()];
      await inParallel(queues, queue => server.post(QUEUE, { ...creation('ended', queue), ...files(1) }));
      return nodes.flatMap(node => queues.map(queue => JSON.stringify(pull('ended', queue, node))));
    },
  },
  connect: {
    about: 'the first request, while there is no queue: reads only, the cheapest POST',
    path: QUEUE,
    status: 200,
    expected: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED',
    async setUp() {
      const flags = { can_initialize_queue: true, attempt_connect_to_queue: true };
      return nodes.map(node => JSON.stringify({ ...pull('connect', 0, node), ...flags }));
    },
  },
  splits: {
    about: 'regular mode, a split in the cache: an answer of 100 files',
    path: SPLIT,
    status: 200,
    expected: '"test_files":[{',
    async setUp(server, requests) {
      const builds = [...Array(Math.min(50, Math.ceil(requests / 100))).keys()];
      const body = (build: number, node: number) => ({
        ...nodeOf('split', build, node),
        ci_build_id: String(build),
        fixed_test_suite_split: true,
        cache_read_attempt: true,
      });
      await inParallel(builds, build =>
        server.post(SPLIT, { ...body(build, 0), cache_read_attempt: false, ...files(100 * NODES) }),
      );
      return nodes.flatMap(node => builds.map(build => JSON.stringify(body(build, node))));
    },
  },
  recording: {
    about: 'timings of 20 files, on disk before the 201; each build is recorded by 8 nodes',
    path: '/v1/build_subsets',
    status: 201,
    expected: '',
    async setUp() {
      // The same files in every build, as in a project's life.
      const test_files = (node: number) =>
        [...Array(20).keys()].map(i => ({ path: path(20 * node + i), time_execution: (i + 1) * 1.2345 }));
      return nodes.map(node =>
        JSON.stringify({ ...nodeOf('record', 0, node), commit_hash: commit(ROUND), test_files: test_files(node) }),
      );
    },
  },
} satisfies Record<string, Trial>;

/** The parameters that every request of a node carries. */
function nodeOf(kind: string, build: number, node_index: number) {
  return {
    commit_hash: commit(`${kind}-${build}-`),
    branch: 'main',
    node_total: NODES,
    node_index,
    user_seat: 'Ja** D** <ja**@ex*****.co*>',
  };
}

function commit(text: string): string {
  return text.padEnd(40, '0');
}

function path(file: number): string {
  const digits = (value: number, count: number) => String(value).padStart(count, '0');
  return `spec/features/area_${digits(file % 37, 2)}/some_feature_${digits(file, 6)}_spec.rb`;
}

function files(count: number) {
  return { test_files: [...Array(count).keys()].map(file => ({ path: path(file) })) };
}

function pull(kind: string, queue: number, node_index: number) {
  return {
    ...nodeOf(kind, queue, node_index),
    can_initialize_queue: false,
    attempt_connect_to_queue: false,
    fixed_queue_split: false,
    node_build_id: String(1_000_000 + queue),
    batch_uuid: `00000000-0000-4000-8000-${ROUND}`,
  };
}

function creation(kind: string, queue: number) {
  return { ...pull(kind, queue, 0), batch_uuid: null, can_initialize_queue: true };
}

async function inParallel(items: readonly number[], work: (item: number) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
