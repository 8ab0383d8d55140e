import type { PostInput, Posts } from './jobs.js';

const FILES = 5000;
/** The queues of the second version of the protocol are planned by the same code. */
const JOBS = ['prepareSplit', 'prepareQueue'] as const;
/** No project has this id, so none of its paths has a known time. */
const NO_PROJECT = 0;

/**
 * Plans a made-up suite and throws the plans away. Code that has run a few times is compiled, so the first large suite after a start takes no
 * longer than the next. It reads the store and writes nothing.
 */
export const WARM_UP = { job: 'warm-up', input: null };

/** What is planned: a job, and its input. */
export function warmUpBodies(): [keyof Posts, PostInput][] {
  return JOBS.map(job => [job, { body: [body()], project: NO_PROJECT }]);
}

function body(): Uint8Array {
  const test_files = Array.from({ length: FILES }, (_, i) => ({ path: `warm-up/area_${i % 30}/file_${i}_spec.rb` }));
  const build = { commit_hash: 'warm-up', branch: 'warm-up', node_total: 16, node_index: 0, test_files };
  const split = { ci_build_id: '1', cache_read_attempt: false };
  const queue = { node_build_id: '1', can_initialize_queue: true, attempt_connect_to_queue: false };
  return new TextEncoder().encode(JSON.stringify({ ...build, ...split, ...queue }));
}
