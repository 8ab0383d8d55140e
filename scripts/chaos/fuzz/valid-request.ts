import { randomUUID } from 'node:crypto';
import { pick, type Random } from '../../../test/testbed/random.js';

const BRANCHES = ['main', 'next', 'größe'];
export const FILES = Array.from({ length: 12 }, (_, i) => `spec/${i}_spec.rb${i % 4 === 3 ? '[1:1]' : ''}`);

export interface Drawn {
  path: string;
  body: Record<string, unknown> | null;
}

/** Draws a valid request. There are few builds, so that requests conflict. */
export function drawValidRequest(random: Random): Drawn {
  const node_total = 1 + Math.floor(3 * random());
  const build = {
    commit_hash: pick(random, ['a', 'b']),
    branch: pick(random, BRANCHES),
    node_total,
    node_index: Math.floor(node_total * random()),
  };
  const listed = FILES.filter(() => random() < 0.5).map(path => ({ path }));
  const uuid = random() < 0.5 ? { batch_uuid: pick(random, ['u1', 'u2', randomUUID()]) } : {};
  switch (Math.floor(9 * random())) {
    case 0: {
      const test_files = listed.map(file => ({ ...file, time_execution: 10 * random() }));
      return { path: '/v1/build_subsets', body: { ...build, test_files } };
    }
    case 1:
      return { path: '/v1/build_distributions/subset', body: { ...build, ...drawSplit(random), test_files: listed } };
    case 2:
    case 3:
      return { path: '/v1/queues/queue', body: { ...build, ...uuid, ...drawPull(random), test_files: listed } };
    case 4:
    case 5:
      return { path: '/v2/queues/queue', body: { ...build, ...drawTestPull(random), paths: listed.map(({ path }) => path) } };
    case 6:
      return {
        path: `/v1/builds/completeness?${new URLSearchParams({ ...build, node_total: String(node_total), node_index: '0' }).toString()}`,
        body: null,
      };
    case 7:
      return { path: `/v1/builds?page=${Math.floor(3 * random())}&branch=${encodeURIComponent(build.branch)}`, body: null };
    default:
      return {
        path: pick(random, [
          `/v1/builds/${randomUUID()}`,
          '/v2/test_paths?branch=main',
          '/v1/build_distributions/last?commit_hash=a&branch=main&node_total=2&node_index=0',
        ]),
        body: null,
      };
  }
}

const drawSplit = (random: Random) => ({
  ci_build_id: pick(random, ['1', '2']),
  fixed_test_suite_split: random() < 0.5,
  cache_read_attempt: random() < 0.5,
});

const drawPull = (random: Random) => ({
  node_build_id: pick(random, ['1', '2', '3']),
  can_initialize_queue: random() < 0.6,
  attempt_connect_to_queue: random() < 0.3,
  fixed_queue_split: random() < 0.3,
  skip_pull: random() < 0.1,
});

const drawTestPull = (random: Random) => ({
  test_queue_id: pick(random, ['1', '2', '3']),
  node_uuid: pick(random, ['n1', 'n2', randomUUID()]),
  batch_index: Math.floor(4 * random()),
  batch_id: pick(random, [null, 0, 1, 2, 3]),
  failed_paths: FILES.filter(() => random() < 0.2).map(path => (random() < 0.5 ? path : `${path}:7`)),
  can_initialize_queue: random() < 0.6,
  attempt_connect_to_queue: random() < 0.3,
  skip_pull: random() < 0.1,
  wants_times: random() < 0.3,
});
