import { decodeBody } from '../api/messages/decode.js';
import type { LmdbStore } from '../store/lmdb/store.js';
import { posts } from './jobs.js';

const FILES = 3000;
const ROUNDS = 4;
/** No project has it: nothing is known of its paths. */
const NO_PROJECT = 0;

/**
 * Plans a made-up suite a few times and throws the plans away: code that has run is compiled, and the first large suite
 * after a start takes no longer than the next. Reads the store and writes nothing.
 */
export function warmUp(store: LmdbStore, pullCost: number): void {
  const test_files = Array.from({ length: FILES }, (_, i) => ({ path: `rehearsal/area_${i % 30}/file_${i}_spec.rb` }));
  const build = { commit_hash: 'rehearsal', branch: 'rehearsal', node_total: 16, node_index: 0, test_files };
  const split = { ...build, ci_build_id: '1', cache_read_attempt: false };
  const queue = { ...build, node_build_id: '1', can_initialize_queue: true, attempt_connect_to_queue: false };
  const [splitBody, queueBody] = [split, queue].map(body => Buffer.from(JSON.stringify(body))) as [Buffer, Buffer];
  for (let round = 0; round < ROUNDS; round++) {
    posts.prepareSplit(store, decodeBody(splitBody), NO_PROJECT, { pullCost, isPooled: true });
    posts.prepareQueue(store, decodeBody(queueBody), NO_PROJECT, { pullCost, isPooled: true });
  }
}
