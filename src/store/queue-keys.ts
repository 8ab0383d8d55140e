import type { BuildKey } from '../wire/build-key.js';
import { digest } from './digest.js';
import type { Store } from './open.js';

/** The keys under which a request finds its queue. */
export interface QueueKeys {
  /** Of the build and its node_build_id. */
  nodeBuild: string;
  /** Of the build, whichever its node_build_id: where a fixed split is looked for. */
  build: string;
  /** Tells the runs of a node apart: of the node_build_id alone. */
  run: string;
}

export function queueKeys(project: number, key: BuildKey, node_build_id: string): QueueKeys {
  const { commit_hash, branch, node_total } = key;
  return {
    nodeBuild: digest(project, commit_hash, branch, node_total, node_build_id),
    build: digest(project, commit_hash, branch, node_total),
    run: digest(node_build_id),
  };
}

/**
 * The queue of a node_build_id, null when there is none. With `fixed` one that has none of its own
 * follows the newest queue of its build, whichever node_build_id made that.
 */
export function findQueue(store: Store, { nodeBuild, build }: QueueKeys, fixed: boolean): string | null {
  const own = store.queuesOfNodeBuild.get(nodeBuild)?.queue;
  // The pointer of a node_build_id that followed another's queue outlives that queue.
  if (own !== undefined && store.queues.doesExist(own)) return own;
  return (fixed && store.queuesOfBuild.get(build)?.queue) || null;
}
