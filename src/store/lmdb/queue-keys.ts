import type { BuildKey } from '../../api/messages/build-key.js';
import { digest } from '../../engine/digest.js';
import type { Parts } from './open.js';

/** The key under which a request finds its queue. It names a queue that is no copy, and tells the runs of a node apart. */
export function queueKey(project: number, { commit_hash, branch, node_total }: BuildKey, node_build_id: string): string {
  return digest(project, commit_hash, branch, node_total, node_build_id);
}

/** The id of the queue of a build's node_build_id, null when there is none. */
export function findQueue(store: Parts, key: string): string | null {
  return store.queuesOfNodeBuild.get(key) ?? null;
}

/**
 * The newest queue of a build, whichever its node_build_id: what a fixed split repeats.
 *
 * @param build see buildIdKey
 */
export function findLastQueue(store: Parts, build: string): string | null {
  return store.queuesOfBuild.get(build) ?? null;
}
