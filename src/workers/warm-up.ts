import { decodeBody } from '../api/messages/decode.js';
import type { PlanOptions } from '../engine/plans.js';
import type { Store } from '../engine/ports/store.js';
import { posts } from './jobs.js';

const FILES = 3000;
const ROUNDS = 4;
/** No project has this id, so none of its paths has a known time. */
const NO_PROJECT = 0;

/**
 * Plans a made-up suite a few times and throws the plans away. Code that has run is compiled, so the first large suite after a start
 * takes no longer than the next. It reads the store and writes nothing.
 */
export async function warmUp(store: Store, options: PlanOptions): Promise<void> {
  const test_files = Array.from({ length: FILES }, (_, i) => ({ path: `warm-up/area_${i % 30}/file_${i}_spec.rb` }));
  const build = { commit_hash: 'warm-up', branch: 'warm-up', node_total: 16, node_index: 0, test_files };
  const split = Buffer.from(JSON.stringify({ ...build, ci_build_id: '1', cache_read_attempt: false }));
  const queue = Buffer.from(JSON.stringify({ ...build, node_build_id: '1', can_initialize_queue: true, attempt_connect_to_queue: false }));
  for (let round = 0; round < ROUNDS; round++) {
    await posts.prepareSplit(store, decodeBody(split), NO_PROJECT, options);
    await posts.prepareQueue(store, decodeBody(queue), NO_PROJECT, options);
  }
}
