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

/** The queue of the build's node_build_id, null when there is none. */
export function findQueue(store: Store, { nodeBuild }: QueueKeys): string | null {
  return store.queuesOfNodeBuild.get(nodeBuild)?.queue ?? null;
}

/** The newest queue of the build, whichever its node_build_id: what a fixed split repeats. */
export function findLastQueue(store: Store, { build }: QueueKeys): string | null {
  return store.queuesOfBuild.get(build)?.queue ?? null;
}
